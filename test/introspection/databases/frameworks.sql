-- By the conventions of web frameworks: Django, Rails, Prisma, SQLAlchemy, Entity Framework, and files converted from MySQL.

CREATE TABLE auth_user (
  id integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  password varchar(128) NOT NULL,
  last_login datetime NULL,
  is_superuser bool NOT NULL,
  username varchar(150) NOT NULL UNIQUE,
  date_joined datetime NOT NULL,
  birth_date date NULL
);
INSERT INTO auth_user VALUES
  (1, 'pbkdf2', '2024-03-10 09:30:00.123456', 1, 'ada', '2024-01-02 03:04:05.000001', '1990-12-31'),
  (2, 'pbkdf2', NULL, 0, 'grace', '2024-01-02 03:04:05', NULL);

CREATE TABLE django_session (
  session_key varchar(40) NOT NULL PRIMARY KEY,
  session_data text NOT NULL,
  expire_date datetime NOT NULL
);
CREATE INDEX django_session_expire_date ON django_session (expire_date);
-- By chance without microseconds.
INSERT INTO django_session VALUES ('abc', 'e30', '2024-03-24 12:00:00');

CREATE TABLE notes_note (
  id integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  tags text NOT NULL CHECK ((JSON_VALID(tags) OR tags IS NULL)),
  author_id integer NOT NULL REFERENCES auth_user (id) DEFERRABLE INITIALLY DEFERRED,
  deleted_at datetime NULL
);
INSERT INTO notes_note VALUES (1, '["a", 1.50]', 1, NULL);

CREATE TABLE "articles" (
  "id" integer PRIMARY KEY AUTOINCREMENT NOT NULL,
  "title" varchar,
  "metadata" json,
  "extra" jsonb DEFAULT '{}',
  "empty" json,
  "broken" json,
  "price" decimal(10, 2),
  "published" boolean DEFAULT 0,
  "published_at" datetime(6),
  "created_at" datetime(6) NOT NULL,
  "updated_at" datetime(6) NOT NULL
);
INSERT INTO articles VALUES
  (1, 'First', '{"b":1.50,"a":null}', '[1,2]', NULL, '{"a":1}', 12.5, 1, '2024-03-10 09:30:00',
    '2024-03-10 09:30:00', '2024-03-10 09:30:00'),
  (2, NULL, 'true', '{}', NULL, '{a:1}', NULL, 0, NULL, '2024-03-10 09:30:00', '2024-03-11 09:30:00');

CREATE TABLE "Event" (
  "id" TEXT NOT NULL PRIMARY KEY,
  "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "payload" JSONB NOT NULL
);
INSERT INTO Event VALUES ('ckx1', '2024-03-10 09:30:00', '{"big":123456789012345678901234567890}');

CREATE TABLE measurement (
  id INTEGER NOT NULL,
  taken DATETIME NOT NULL,
  logged_at TEXT NOT NULL,
  recorded_at TEXT NOT NULL,
  value double(8,3) NOT NULL,
  total DOUBLE PRECISION(10, 2),
  ratio float(24) NOT NULL,
  rough double(5,1),
  PRIMARY KEY (id)
);
INSERT INTO measurement VALUES
  (1, '2024-03-10 09:30:00.000000', '2024-03-10T09:30:00.123456', '2024-03-10 09:30:00.1234567', 1.5, 3, 0.1, 0.25),
  (2, '2024-03-10 09:30:00.250000', '2024-03-10T09:30:00', '2024-03-10 09:30:00', 12345.678, NULL, 1, NULL);
