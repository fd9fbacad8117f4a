-- A forum as web frameworks write it: Unix times, flags of 0 and 1, names in snake case, JSON in text, a
-- full-text index, tables without a key.
PRAGMA foreign_keys = OFF;

CREATE TABLE users (
  id INTEGER NOT NULL PRIMARY KEY,
  name VARCHAR(30) NOT NULL COLLATE NOCASE UNIQUE,
  email TEXT,
  is_admin INTEGER NOT NULL DEFAULT 0,
  is_banned TINYINT(1),
  karma INTEGER NOT NULL DEFAULT 0,
  settings TEXT CHECK (settings IS NULL OR json_valid(settings)),
  created_at INTEGER NOT NULL,
  last_login INTEGER,
  session_token BLOB
);

CREATE TABLE topics (
  id INTEGER PRIMARY KEY,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE RESTRICT,
  title TEXT NOT NULL,
  slug TEXT NOT NULL UNIQUE,
  status TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'closed', 'it''s complicated')),
  locked INTEGER NOT NULL DEFAULT 0 CHECK (locked IN (0, 1)),
  views BIGINT NOT NULL DEFAULT 0,
  created_at BIGINT NOT NULL,
  updated_at BIGINT
);

CREATE TABLE posts (
  id INTEGER PRIMARY KEY,
  topic_id INTEGER NOT NULL REFERENCES topics (id) ON DELETE CASCADE,
  parent_id INTEGER REFERENCES posts (id) ON DELETE CASCADE,
  user_id INTEGER REFERENCES users (id) ON DELETE SET NULL,
  body TEXT NOT NULL,
  score REAL,
  created_at INTEGER NOT NULL DEFAULT (strftime('%s', 'now')),
  deleted_at INTEGER
);
CREATE INDEX posts_by_topic ON posts (topic_id, created_at);
CREATE INDEX posts_alive ON posts (topic_id) WHERE deleted_at IS NULL;
CREATE INDEX posts_by_length ON posts (length(body));

CREATE TABLE likes (
  user_id INTEGER NOT NULL,
  post_id INTEGER NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (user_id, post_id),
  FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE,
  FOREIGN KEY (post_id) REFERENCES posts (id) ON DELETE CASCADE
);

CREATE TABLE log (line TEXT, level INTEGER, logged_at INTEGER);

CREATE TABLE big_numbers (id INTEGER PRIMARY KEY, snowflake INTEGER NOT NULL UNIQUE);
CREATE TABLE marks (snowflake INTEGER NOT NULL REFERENCES big_numbers (snowflake), color TEXT);
CREATE TABLE messages (message_id INTEGER NOT NULL PRIMARY KEY, sender INTEGER);
CREATE TABLE replies (reply_id INTEGER PRIMARY KEY, message_id INTEGER REFERENCES messages);

CREATE VIRTUAL TABLE search USING fts5 (title, body);

CREATE VIEW active_users AS
  SELECT id, name, upper(name) AS shouted, karma * 2 AS double_karma FROM users WHERE is_banned IS NOT 1;

INSERT INTO users
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 120)
SELECT i, 'user' || i, CASE WHEN i % 3 > 0 THEN 'u' || i || '@example.com' END, i = 1,
  CASE i % 4 WHEN 0 THEN 1 WHEN 1 THEN 0 END, i * 37 % 1001 - 500,
  CASE WHEN i % 5 = 0 THEN json_object('theme', 'dark', 'size', i) END,
  1400000000 + i * 86399, CASE WHEN i % 2 THEN 1700000000 + i END, NULL
FROM n;

INSERT INTO topics VALUES
  (1, 1, 'Welcome', 'welcome', 'open', 0, 9007199254740991, 1417305600123, NULL),
  (2, 7, 'Rules — read first', 'rules', 'closed', 1, 12, 1417305600999, 1709164800000),
  (3, 7, '', 'empty', 'it''s complicated', 0, 0, 1709164799999, 1709164800001);

INSERT INTO posts
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
SELECT i, 1 + i % 3, CASE WHEN i % 10 > 5 THEN i - 5 END, CASE WHEN i % 11 > 0 THEN 1 + i % 120 END,
  CASE i % 5 WHEN 0 THEN 'tab' || char(9) || 'line' || char(10) || 'end' WHEN 1 THEN '😀 "quoted"' ELSE 'Post ' || i END,
  CASE WHEN i % 2 THEN i / 7.0 END, 1500000000 + i * 4321, CASE WHEN i % 13 = 0 THEN 1600000000 + i END
FROM n;

INSERT INTO likes SELECT user_id, id, created_at + 60 FROM posts WHERE user_id IS NOT NULL;
INSERT INTO log VALUES ('started', 1, 1600000000), ('started', 1, 1600000000), (NULL, NULL, NULL), ('stopped', 2, 1600000099);
INSERT INTO big_numbers VALUES (1, 1541815603606036480), (2, 9223372036854775807), (3, 5);
INSERT INTO marks VALUES (5, 'red'), (9223372036854775807, NULL);
INSERT INTO messages VALUES (9007199254740993, 4), (7, NULL);
INSERT INTO replies VALUES (1, 7), (2, NULL);
INSERT INTO search SELECT title, slug FROM topics;
