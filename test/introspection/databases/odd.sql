-- Names and tables that make tools stumble: reserved words, spaces, quotes, dots, other scripts, no names at
-- all; tables without key, without rows, without types.
PRAGMA foreign_keys = OFF;

CREATE TABLE "select" ("from" INTEGER PRIMARY KEY, "where" TEXT, "group" TEXT, "order" INTEGER REFERENCES "order");
CREATE TABLE "order" ("key" INTEGER PRIMARY KEY, "default" TEXT DEFAULT 'x');
CREATE TABLE "class" ("new" TEXT NOT NULL PRIMARY KEY, "constructor" TEXT, "toString" TEXT, "hasOwnProperty" INTEGER);
CREATE TABLE "text" ("integer" TEXT, "date" TEXT, "text" TEXT);
CREATE TABLE "two words" ("a b" TEXT NOT NULL, "c  d" INTEGER, " e " TEXT, PRIMARY KEY ("a b"));
CREATE TABLE "two_words" ("a-b" INTEGER PRIMARY KEY, "a_b" TEXT, "aB" TEXT, "A.b" TEXT);
CREATE TABLE "TwoWords" ("ID" INTEGER PRIMARY KEY, "id_" TEXT, "Id-2" TEXT);
CREATE TABLE "quo""te's" ("it's" TEXT, "a""b" INTEGER PRIMARY KEY, "back`tick" TEXT, "semi;colon" TEXT, "per%cent" TEXT);
CREATE TABLE [dot.ted.name] ([x.y] INTEGER PRIMARY KEY, [x,y] TEXT, [-x] TEXT, [$limit] TEXT, [?] TEXT, [(]  TEXT);
CREATE INDEX [dot.ted index] ON [dot.ted.name] ([-x], [x,y] DESC);
CREATE TABLE "2nd" ("1st" INTEGER PRIMARY KEY, "3" TEXT, "4th" TEXT);
CREATE TABLE "таблица" ("ключ" INTEGER PRIMARY KEY, "имя" TEXT, "Имя" TEXT, "дата_заказа" TEXT);
CREATE TABLE "表" ("番号" INTEGER PRIMARY KEY, "名前" TEXT);
CREATE TABLE "Größe" ("Länge" REAL, "naïve_name" TEXT, "हिन्दी" TEXT, "😀" TEXT PRIMARY KEY NOT NULL);
CREATE TABLE "line
break" ("tab	bed" TEXT, "*/ comment" TEXT, "`${1}`" INTEGER PRIMARY KEY);
CREATE TABLE "api_key" ("api_key" TEXT PRIMARY KEY NOT NULL, "apiKey" TEXT, "X-API-Key" TEXT);
CREATE TABLE "a_table_whose_name_is_much_longer_than_the_names_that_paths_and_fields_may_have" (
  "a_column_whose_name_is_much_longer_than_the_names_that_paths_and_fields_may_have_1" INTEGER PRIMARY KEY,
  "a_column_whose_name_is_much_longer_than_the_names_that_paths_and_fields_may_have_2" TEXT
);

CREATE TABLE untyped (a, b, c, d PRIMARY KEY, "" INTEGER, "__proto__" TEXT);
CREATE TABLE mixed (id INTEGER PRIMARY KEY, anything, number INTEGER, stamp DATETIME);
CREATE TABLE empty_table (id INTEGER PRIMARY KEY, created_at INTEGER, born DATE, seen DATETIME DEFAULT CURRENT_TIMESTAMP, price REAL, is_open INTEGER, name VARCHAR(20), raw BLOB, thing);
CREATE TABLE no_key (a TEXT, b INTEGER);
CREATE TABLE null_key (code TEXT PRIMARY KEY, n INTEGER);
CREATE TABLE unique_key (code TEXT NOT NULL UNIQUE, n INTEGER);
CREATE TABLE blob_key (id BLOB NOT NULL PRIMARY KEY, n INTEGER);
CREATE TABLE uuid_key (uuid BLOB NOT NULL PRIMARY KEY, other_uuid CHAR(32));
CREATE TABLE real_key (x REAL NOT NULL PRIMARY KEY, y TEXT);
CREATE TABLE needs_blob (id INTEGER PRIMARY KEY, photo BLOB NOT NULL);
CREATE TABLE only_blobs (data BLOB);
CREATE TABLE descending (id INTEGER PRIMARY KEY DESC, n TEXT);
CREATE TABLE without_rowid (b TEXT, a INTEGER, c TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID;
CREATE TABLE strict_table (id INTEGER PRIMARY KEY, t TEXT NOT NULL, r REAL, i INT, a ANY, b BLOB) STRICT;
CREATE TABLE generated (w INTEGER NOT NULL, h INTEGER NOT NULL, area INTEGER AS (w * h) STORED, label TEXT AS (w || 'x' || h), PRIMARY KEY (w, h));
CREATE TABLE flags (id INTEGER PRIMARY KEY, is_text TEXT, has_word TEXT, active BOOLEAN, odd BOOLEAN, "is_0" INTEGER);
CREATE TABLE stamps (id INTEGER PRIMARY KEY, zulu_time TEXT, whole_zulu_time TEXT, other_zulu_time TEXT, iso_time TEXT, day TEXT, day_or_time DATETIME, micro DATETIME, us_date DATE, version_date TEXT);
CREATE TABLE names (name TEXT COLLATE NOCASE PRIMARY KEY NOT NULL, other VARCHAR(3), nul TEXT, bad TEXT);
CREATE TABLE parents (a INTEGER, b TEXT, PRIMARY KEY (b, a));
CREATE TABLE children (
  id INTEGER PRIMARY KEY, a INTEGER, b TEXT, parent INTEGER REFERENCES children, missing INTEGER REFERENCES nowhere (id),
  code TEXT REFERENCES null_key (n), wrong TEXT REFERENCES "order",
  FOREIGN KEY (a, b) REFERENCES parents (a, b) ON DELETE CASCADE
);
CREATE TABLE circle_a (id INTEGER PRIMARY KEY, b INTEGER REFERENCES circle_b ON DELETE CASCADE);
CREATE TABLE circle_b (id INTEGER PRIMARY KEY, a INTEGER NOT NULL REFERENCES circle_a ON DELETE CASCADE, c INTEGER NOT NULL REFERENCES circle_a ON DELETE SET NULL);
CREATE TABLE defaults (id INTEGER PRIMARY KEY, created_at TEXT DEFAULT '', seen_at TEXT DEFAULT CURRENT_TIMESTAMP, "day" DATE DEFAULT 1, word TEXT DEFAULT 'abc', n INTEGER NOT NULL DEFAULT 'none', odd TEXT DEFAULT (no_function()));
CREATE TABLE rowgate_things (id INTEGER PRIMARY KEY);
CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT, n INTEGER);

CREATE VIEW expressions AS SELECT id, count(*), id * 2, 'x' || id AS "x.y", NULL AS "nothing", id AS ID FROM counted GROUP BY id;
CREATE VIEW now_view AS SELECT id, n FROM counted WHERE n < strftime('%s', 'now');
CREATE VIEW broken AS SELECT * FROM nowhere;
CREATE VIRTUAL TABLE "full text" USING fts5 ("the title", body);
CREATE TRIGGER "trig.ger" AFTER INSERT ON counted BEGIN UPDATE counted SET n = 1 WHERE id = new.id AND n IS NULL; END;

INSERT INTO "select" VALUES (1, 'w', 'g', 7), (2, NULL, '', NULL);
INSERT INTO "order" VALUES (7, 'd');
INSERT INTO "class" VALUES ('n', 'c', 't', 1), ('', NULL, NULL, NULL);
INSERT INTO "text" VALUES ('i', '2020-01-01', 't'), ('i', '2020-01-02', 't');
INSERT INTO "two words" VALUES ('x y', 1, 'e'), ('x/y', 2, NULL), ('%2F', 3, '?');
INSERT INTO "two_words" VALUES (1, '2', '3', '4');
INSERT INTO "TwoWords" VALUES (1, 'a', 'b');
INSERT INTO "quo""te's" VALUES ('it''s', 1, '`', ';', '%'), (NULL, 2, NULL, NULL, NULL);
INSERT INTO [dot.ted.name] VALUES (1, 'a', 'b', 'c', 'd', 'e');
INSERT INTO "2nd" VALUES (1, 'three', 'four');
INSERT INTO "таблица" VALUES (1, 'раз', 'два', '2024-01-01');
INSERT INTO "表" VALUES (1, '名'), (2, '𠮷');
INSERT INTO "Größe" VALUES (1.5, 'ï', 'ह', '😀'), (-2, NULL, NULL, '🎈');
INSERT INTO "line
break" VALUES ('a', 'b', 1);
INSERT INTO "api_key" VALUES ('k', 'l', 'm');
INSERT INTO "a_table_whose_name_is_much_longer_than_the_names_that_paths_and_fields_may_have" VALUES (1, 'x');
INSERT INTO untyped (a, b, c, d) VALUES ('text', 1, 2.5, 'k1'), ('more', -9, 3, 'k2');
INSERT INTO mixed VALUES (1, 'text', 5, 'soon'), (2, 17, 'n/a', '2020-01-01'), (3, x'00', 7, NULL);
INSERT INTO no_key VALUES ('twice', 1), ('twice', 1), (NULL, NULL);
INSERT INTO null_key VALUES ('a', 1), (NULL, 2), (NULL, 3);
INSERT INTO unique_key VALUES ('a', 1), ('A', 2);
INSERT INTO blob_key VALUES (x'01', 1), (x'02', 2);
INSERT INTO uuid_key VALUES (x'000102030405060708090a0b0c0d0e0f', 'ffeeddccbbaa99887766554433221100'), (x'ffffffffffffffffffffffffffffffff', NULL);
INSERT INTO real_key VALUES (1.5, 'a'), (-2, 'b');
INSERT INTO needs_blob VALUES (1, x'01');
INSERT INTO only_blobs VALUES (x'01');
INSERT INTO descending VALUES (1, 'one'), (2, 'two');
INSERT INTO without_rowid VALUES ('b', 2, 'c'), ('a', 2, NULL), ('z', 1, 'c');
INSERT INTO strict_table VALUES (1, 't', 1, 2, 'any', x'01'), (2, '', NULL, NULL, NULL, NULL);
INSERT INTO generated (w, h) VALUES (2, 3), (4, 5);
INSERT INTO flags VALUES (1, 'true', 'Y', 1, 2, 0), (2, 'false', 'N', 0, 1, 1), (3, NULL, NULL, NULL, NULL, NULL);
INSERT INTO stamps VALUES
  (1, '2020-02-29T12:00:00.000Z', '2020-02-29T12:00:00Z', '2020-02-29T12:00:00Z', '2020-02-29T12:00:00.500', '2020-02-29', '2020-02-29', '2020-02-29 12:00:00.123456', '2/29/2020', '1.0'),
  (2, '2020-02-29T12:00:00.250Z', '2020-02-29T23:59:59Z', '2020-02-29T12:00:00.250Z', '2020-02-29T12:00:00', '9999-12-31', '2020-02-29 01:02:03', '2020-02-29 12:00:00.000000', '12/31/2020', '2020-01-01');
INSERT INTO names VALUES ('Ann', 'abcdef', 'a' || char(0) || 'b', 'x'), ('bob', 'ÄÖÜ', 'c', CAST(x'c328' AS TEXT));
INSERT INTO parents VALUES (1, 'x'), (2, 'x');
INSERT INTO children VALUES (1, 1, 'x', NULL, 5, 'c', 'w'), (2, NULL, NULL, 1, NULL, NULL, NULL);
INSERT INTO defaults VALUES (1, '2020-01-01', '2020-01-01 10:00:00', 'x', 'def', 2, 'y');
INSERT INTO counted (n) VALUES (10), (20), (NULL);
INSERT INTO "full text" VALUES ('A title', 'A body'), ('Another', NULL);
