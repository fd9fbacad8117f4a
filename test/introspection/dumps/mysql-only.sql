-- What only MySQL has, restored after mysql.sql: its JSON, collations, indexes, defaults, checks and types, as mysqldump
-- --skip-extended-insert writes them.

/*!50503 SET NAMES utf8mb4 */;
SET TIME_ZONE='+00:00';
SET SQL_MODE='NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES';

CREATE TABLE `documents` (
  `id` int unsigned NOT NULL AUTO_INCREMENT,
  `title` varchar(40) NOT NULL,
  `doc` json DEFAULT NULL,
  `tags` json NOT NULL DEFAULT (json_array()),
  `uid` char(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT (uuid()),
  `due` datetime NOT NULL DEFAULT ((now() + interval 7 day)),
  `ratio` double DEFAULT ((1 / 3)),
  `label` varchar(60) NOT NULL DEFAULT (_utf8mb4'it\'s (new)'),
  `made` timestamp(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3),
  `name` varchar(30) GENERATED ALWAYS AS (json_unquote(json_extract(`doc`,_utf8mb4'$.name'))) VIRTUAL,
  `length` int GENERATED ALWAYS AS (char_length(`title`)) STORED NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `uid` (`uid`),
  UNIQUE KEY `upper_title` ((upper(`title`))),
  KEY `tags` ((cast(`tags` as char(20) array))),
  KEY `hidden` (`due`) /*!80000 INVISIBLE */,
  KEY `mixed` (`label` DESC,(char_length(`label`)))
) ENGINE=InnoDB AUTO_INCREMENT=5 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci;
INSERT INTO `documents` (`id`, `title`, `doc`, `tags`, `uid`, `due`, `ratio`, `label`, `made`) VALUES (1,'A 😀','{\"bb\": 2, \"a\": [1.50, 1e3, null, true, \"\\u00e9\"], \"name\": \"it\'s\"}','[\"x\", \"y\"]','a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11','2024-02-29 23:59:59',0.1,'it\'s (new)','2024-01-01 00:00:00.001');
INSERT INTO `documents` (`id`, `title`, `doc`, `tags`, `uid`, `due`, `ratio`, `label`, `made`) VALUES (2,'ä','\"text\"','[]','ffffffff-ffff-ffff-ffff-ffffffffffff','1000-01-01 00:00:00',NULL,'','2024-01-01 00:00:00.000');
INSERT INTO `documents` (`id`, `title`, `doc`, `tags`, `uid`, `due`, `ratio`, `label`, `made`) VALUES (3,'z','null','["z"]','00000000-0000-0000-0000-000000000000','9999-12-31 23:59:59',-1e308,' ','2038-01-19 03:14:07.999');
INSERT INTO `documents` (`id`, `title`, `doc`, `tags`, `uid`, `due`, `ratio`, `label`, `made`) VALUES (4,'Z ',NULL,'9007199254740991','00000000-0000-0000-0000-000000000001','2024-01-01 00:00:00',5e-324,'\\','2024-01-01 00:00:00.500');
INSERT INTO `documents` (`title`, `doc`, `tags`, `uid`, `due`, `made`) VALUES ('defaults',json_object('day',cast('2024-02-29' as date),'at',cast('10:11:12' as time),'price',1.50),DEFAULT,'00000000-0000-0000-0000-000000000002','2024-01-02 00:00:00','2024-01-01 00:00:00.500');

CREATE TABLE `collated` (
  `id` varchar(10) COLLATE utf8mb4_0900_as_cs NOT NULL,
  `exact` varchar(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DEFAULT NULL,
  `german` varchar(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_de_pb_0900_as_cs DEFAULT NULL,
  `japanese` char(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_ja_0900_as_cs_ks DEFAULT NULL,
  `gbk` varchar(10) CHARACTER SET gbk COLLATE gbk_chinese_ci DEFAULT NULL,
  `wide` varchar(10) CHARACTER SET utf16 COLLATE utf16_general_ci DEFAULT NULL,
  `mood` enum('happy','It''s odd','Ä') COLLATE utf8mb4_0900_ai_ci NOT NULL DEFAULT 'It''s odd',
  `moods` set('a','b','c d') COLLATE utf8mb4_0900_ai_ci NOT NULL DEFAULT 'a,c d',
  PRIMARY KEY (`id`),
  UNIQUE KEY `exact` (`exact`),
  UNIQUE KEY `german` (`german`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_as_cs;
INSERT INTO `collated` VALUES ('a','a','ä','かな','中文','😀','happy','a,b,c d');
INSERT INTO `collated` VALUES ('A','A','ae ','カナ','','é','Ä','');
INSERT INTO `collated` VALUES ('A ','a ',NULL,NULL,NULL,NULL,'It''s odd','b');

CREATE TABLE `accounts` (
  `number` bigint unsigned NOT NULL,
  `status` varchar(10) NOT NULL DEFAULT 'open',
  `level` int DEFAULT NULL,
  `free` varchar(10) DEFAULT NULL,
  `opened` date NOT NULL DEFAULT '0000-00-00',
  `closed` datetime DEFAULT '0000-00-00 00:00:00',
  `note` varchar(20) DEFAULT 'secret' /*!80023 INVISIBLE */,
  `balance` decimal(12,2) unsigned zerofill NOT NULL,
  `rate` float unsigned DEFAULT NULL,
  `octet` bit(8) NOT NULL DEFAULT b'101',
  `token` varbinary(16) DEFAULT NULL,
  `short` binary(2) NOT NULL DEFAULT '\0\0',
  `code` binary(16) DEFAULT (uuid_to_bin(uuid())),
  `place` point NOT NULL /*!80003 SRID 4326 */,
  `area` geomcollection DEFAULT NULL,
  `meaning` vector(3) DEFAULT NULL,
  PRIMARY KEY (`number`),
  SPATIAL KEY `place` (`place`),
  CONSTRAINT `accounts_chk_1` CHECK ((`status` in (_utf8mb4'open',_utf8mb4'it\'s lost',_utf8mb4'back\\slash',_utf8mb4'größer',_utf8mb4'😀'))),
  CONSTRAINT `accounts_chk_2` CHECK ((`level` in (1,2,-3))),
  CONSTRAINT `accounts_chk_3` CHECK ((`free` in (_utf8mb4'a',_utf8mb4'b'))) /*!80016 NOT ENFORCED */,
  CONSTRAINT `accounts_chk_4` CHECK ((`balance` >= 0))
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci;
INSERT INTO `accounts` (`number`, `status`, `level`, `free`, `opened`, `closed`, `note`, `balance`, `rate`, `octet`, `token`, `short`, `code`, `place`, `area`, `meaning`) VALUES (1,'open',1,'other','0000-00-00','2024-02-30 00:00:00','n',0000000012.50,0.1,b'101',0xDEAD,0x0001,NULL,ST_GeomFromText('POINT(1 2)',4326),NULL,NULL);
INSERT INTO `accounts` (`number`, `status`, `level`, `free`, `opened`, `closed`, `note`, `balance`, `rate`, `octet`, `token`, `short`, `code`, `place`, `area`, `meaning`) VALUES (18446744073709551615,'back\\slash',-3,'a','2024-01-01',NULL,NULL,9999999999.99,3.40282e38,b'11111111','',0xFFFF,0x00112233445566778899AABBCCDDEEFF,ST_GeomFromText('POINT(-90 180)',4326),ST_GeomFromText('GEOMETRYCOLLECTION EMPTY'),0x0000803F0000004000004040);
INSERT INTO `accounts` (`number`, `status`, `level`, `free`, `opened`, `closed`, `balance`, `rate`, `octet`, `place`) VALUES (9223372036854775808,'😀',NULL,NULL,'0000-00-00','0000-00-00 00:00:00',0.00,NULL,b'0',ST_GeomFromText('POINT(0 0)',4326));

-- A table without a key of its own: the server adds the key.

SET SESSION sql_generate_invisible_primary_key=ON;
CREATE TABLE `visits` (
  `my_row_id` bigint unsigned NOT NULL AUTO_INCREMENT /*!80023 INVISIBLE */,
  `page` varchar(20) DEFAULT NULL,
  `account` bigint unsigned DEFAULT NULL,
  PRIMARY KEY (`my_row_id`),
  KEY `account` (`account`),
  CONSTRAINT `visits_ibfk_1` FOREIGN KEY (`account`) REFERENCES `accounts` (`number`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci;
INSERT INTO `visits` (`my_row_id`, `page`, `account`) VALUES (1,'/',18446744073709551615);
INSERT INTO `visits` (`my_row_id`, `page`, `account`) VALUES (2,'/',1);
CREATE TABLE `clicks` (
  `page` varchar(20) DEFAULT NULL,
  `count` int DEFAULT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci;
INSERT INTO `clicks` VALUES ('/',1);
INSERT INTO `clicks` VALUES ('/',1);

CREATE TABLE `shards` (
  `id` int NOT NULL,
  `at` timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci
/*!50100 PARTITION BY KEY (id)
PARTITIONS 3 */;
INSERT INTO `shards` VALUES (1,'2024-01-01 00:00:00');
INSERT INTO `shards` VALUES (2,'2024-01-01 00:00:01');

CREATE ALGORITHM=UNDEFINED SQL SECURITY INVOKER VIEW `tag_list` AS select `d`.`id` AS `id`,`t`.`tag` AS `tag` from (`documents` `d` join json_table(`d`.`tags`, '$[*]' columns (`tag` varchar(20) character set utf8mb4 path '$')) `t`);

CREATE TABLE `cached` (
  `id` int NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE=MEMORY DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci;
