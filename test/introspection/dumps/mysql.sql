-- A database in the style of the samples of MySQL: a film rental, with the types of columns and the names that old
-- databases have, as mariadb-dump --skip-extended-insert writes it. MariaDB and MySQL restore it; what only one of
-- them has is in mariadb-only.sql and mysql-only.sql.

/*!40101 SET NAMES utf8mb4 */;
/*!40103 SET TIME_ZONE='+00:00' */;
/*!40014 SET UNIQUE_CHECKS=0 */;
/*!40014 SET FOREIGN_KEY_CHECKS=0 */;
/*!40101 SET SQL_MODE='NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES' */;

-- Films and actors: enumerations, sets, years, unsigned numbers, composite keys.

CREATE TABLE `language` (
  `language_id` tinyint(3) unsigned NOT NULL AUTO_INCREMENT,
  `name` char(20) NOT NULL,
  `last_update` timestamp NOT NULL DEFAULT current_timestamp() ON UPDATE current_timestamp(),
  PRIMARY KEY (`language_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
INSERT INTO `language` VALUES (1,'English','2006-02-15 05:02:19');
INSERT INTO `language` VALUES (2,'Français','2006-02-15 05:02:19');
INSERT INTO `language` VALUES (255,'','1970-01-01 00:00:01');

CREATE TABLE `film` (
  `film_id` smallint(5) unsigned NOT NULL AUTO_INCREMENT,
  `title` varchar(128) NOT NULL,
  `description` text DEFAULT NULL,
  `release_year` year(4) DEFAULT NULL,
  `language_id` tinyint(3) unsigned NOT NULL,
  `original_language_id` tinyint(3) unsigned DEFAULT NULL,
  `rental_duration` tinyint(3) unsigned NOT NULL DEFAULT 3,
  `rental_rate` decimal(4,2) NOT NULL DEFAULT 4.99,
  `replacement_cost` decimal(5,2) unsigned zerofill NOT NULL DEFAULT 19.99,
  `rating` enum('G','PG','PG-13','R','it''s "odd" \\','') DEFAULT 'G',
  `special_features` set('Trailers','Commentaries','Deleted Scenes','Behind the Scenes') DEFAULT NULL,
  `is_old` tinyint(1) NOT NULL DEFAULT 0,
  `stars` tinyint(1) DEFAULT NULL,
  `full_title` varchar(140) GENERATED ALWAYS AS (concat(`title`,' (',`release_year`,')')) VIRTUAL,
  `cents` int(11) GENERATED ALWAYS AS (`rental_rate` * 100) STORED,
  PRIMARY KEY (`film_id`),
  UNIQUE KEY `title` (`title`,`release_year`),
  KEY `idx_fk_language_id` (`language_id`),
  KEY `idx_rate` (`rental_rate`,`title`(10)),
  CONSTRAINT `fk_film_language` FOREIGN KEY (`language_id`) REFERENCES `language` (`language_id`) ON UPDATE CASCADE,
  CONSTRAINT `fk_film_original` FOREIGN KEY (`original_language_id`) REFERENCES `language` (`language_id`) ON DELETE SET NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
INSERT INTO `film` (`film_id`,`title`,`description`,`release_year`,`language_id`,`original_language_id`,`rental_duration`,`rental_rate`,`replacement_cost`,`rating`,`special_features`,`is_old`,`stars`) VALUES (1,'ACADEMY DINOSAUR','A Epic Drama of a \"Feminist\" And a Mad Scientist\r\nwho must battle a Teacher',2006,1,NULL,6,0.99,20.99,'PG','Deleted Scenes,Behind the Scenes',0,5);
INSERT INTO `film` (`film_id`,`title`,`description`,`release_year`,`language_id`,`original_language_id`,`rental_duration`,`rental_rate`,`replacement_cost`,`rating`,`special_features`,`is_old`,`stars`) VALUES (2,'O\'Brien \\ 😀','',1901,2,1,0,-99.99,0.00,'it\'s \"odd\" \\','',1,1);
INSERT INTO `film` (`film_id`,`title`,`description`,`release_year`,`language_id`,`original_language_id`,`rental_duration`,`rental_rate`,`replacement_cost`,`rating`,`special_features`,`is_old`,`stars`) VALUES (65535,'  spaces  ',NULL,0000,1,255,255,99.99,999.99,'not known','Trailers,Commentaries,Deleted Scenes,Behind the Scenes',1,-128);
INSERT INTO `film` (`film_id`,`title`,`description`,`release_year`,`language_id`,`original_language_id`,`rental_duration`,`rental_rate`,`replacement_cost`,`rating`,`special_features`,`is_old`,`stars`) VALUES (7,'','\t',NULL,1,NULL,3,4.99,19.99,NULL,NULL,0,NULL);

CREATE TABLE `actor` (
  `actor_id` smallint(5) unsigned NOT NULL AUTO_INCREMENT,
  `first_name` varchar(45) NOT NULL,
  `last_name` varchar(45) CHARACTER SET latin1 COLLATE latin1_swedish_ci NOT NULL,
  PRIMARY KEY (`actor_id`),
  KEY `idx_actor_last_name` (`last_name`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
INSERT INTO `actor` VALUES (0,'PENELOPE','GUINESS');
INSERT INTO `actor` VALUES (1,'penelope','Müller');
INSERT INTO `actor` VALUES (2,'Élodie','müller ');

CREATE TABLE `film_actor` (
  `actor_id` smallint(5) unsigned NOT NULL,
  `film_id` smallint(5) unsigned NOT NULL,
  `last_update` timestamp(6) NULL DEFAULT NULL,
  PRIMARY KEY (`actor_id`,`film_id`),
  KEY `idx_fk_film_id` (`film_id`),
  CONSTRAINT `fk_film_actor_actor` FOREIGN KEY (`actor_id`) REFERENCES `actor` (`actor_id`),
  CONSTRAINT `fk_film_actor_film` FOREIGN KEY (`film_id`) REFERENCES `film` (`film_id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
INSERT INTO `film_actor` VALUES (0,1,'2006-02-15 05:05:03.123456');
INSERT INTO `film_actor` VALUES (1,1,'2006-02-15 05:05:03.123999');
INSERT INTO `film_actor` VALUES (1,65535,NULL);

CREATE VIEW `film_list` AS select `f`.`film_id` AS `FID`,`f`.`title` AS `title`,`l`.`name` AS `language`,`f`.`rental_rate` AS `price`,`f`.`rating` AS `rating` from (`film` `f` left join `language` `l` on(`l`.`language_id` = `f`.`language_id`));
CREATE VIEW `gone` AS select `language_id` AS `id` from `language`;
CREATE TABLE `temporary` (`id` int(11) NOT NULL) ENGINE=InnoDB;
CREATE OR REPLACE VIEW `gone` AS select `id` AS `id` from `temporary`;
DROP TABLE `temporary`;

-- Mixed case, reserved words and odd names.

CREATE TABLE `Order` (
  `OrderID` bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  `Group` varchar(20) NOT NULL DEFAULT 'none',
  `select` bit(1) NOT NULL DEFAULT b'0',
  `Order Date` datetime NOT NULL DEFAULT '0000-00-00 00:00:00',
  `back``tick` varchar(10) DEFAULT NULL,
  `näme` varchar(10) DEFAULT NULL,
  `Status` varchar(10) NOT NULL DEFAULT 'open' CHECK (`Status` in ('open','shipped','it\'s lost')),
  PRIMARY KEY (`OrderID`),
  KEY `by status` (`Status`,`OrderID` DESC)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
INSERT INTO `Order` VALUES (1,'a',b'0','2024-02-29 23:59:59','`','ä','open');
INSERT INTO `Order` VALUES (9007199254740993,'A',b'1','1000-01-01 00:00:00',NULL,NULL,'it\'s lost');
INSERT INTO `Order` VALUES (9223372036854775807,'a ',b'1','9999-12-31 23:59:59','','\'','shipped');

CREATE TABLE `Order Details` (
  `OrderID` bigint(20) unsigned NOT NULL,
  `Line-No` smallint(6) NOT NULL,
  `Quantity` mediumint(8) unsigned zerofill DEFAULT NULL,
  `Discount` float NOT NULL DEFAULT 0,
  `Rate` double(8,3) DEFAULT NULL,
  `Weight` double DEFAULT NULL,
  PRIMARY KEY (`OrderID`,`Line-No`),
  CONSTRAINT `details of orders` FOREIGN KEY (`OrderID`) REFERENCES `Order` (`OrderID`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
INSERT INTO `Order Details` VALUES (1,-1,00000012,0.1,1.5,8.41e21);
INSERT INTO `Order Details` VALUES (1,2,16777215,16777216,0.001,1e-7);
INSERT INTO `Order Details` VALUES (9007199254740993,1,NULL,3.40282e38,NULL,5e-324);
INSERT INTO `Order Details` VALUES (9223372036854775807,32767,0,-0,-12345.678,0.1);

CREATE TABLE `ORDER` (
  `key` int(11) NOT NULL,
  `value` int(11) DEFAULT NULL,
  PRIMARY KEY (`key`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
INSERT INTO `ORDER` VALUES (-2147483648,2147483647);

CREATE TABLE `shades` (
  `shade` float NOT NULL,
  `name` varchar(20) DEFAULT NULL,
  PRIMARY KEY (`shade`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
INSERT INTO `shades` VALUES (0.1,'dark');
INSERT INTO `shades` VALUES (16777216,'light');

CREATE TABLE `waves` (
  `length` double NOT NULL,
  `shade` float DEFAULT NULL,
  PRIMARY KEY (`length`),
  CONSTRAINT `waves of shades` FOREIGN KEY (`shade`) REFERENCES `shades` (`shade`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
INSERT INTO `waves` VALUES (5e-324,0.1);
INSERT INTO `waves` VALUES (0.1,NULL);

-- Types.

CREATE TABLE `numbers` (
  `id` tinyint(4) NOT NULL,
  `u8` tinyint(3) unsigned DEFAULT NULL,
  `i24` mediumint(9) DEFAULT NULL,
  `u32` int(10) unsigned DEFAULT NULL,
  `i64` bigint(20) DEFAULT NULL,
  `safe_i64` bigint(20) DEFAULT NULL,
  `u64` bigint(20) unsigned DEFAULT NULL,
  `half_u64` bigint(20) unsigned DEFAULT NULL,
  `z64` bigint(20) unsigned zerofill DEFAULT NULL,
  `d38` decimal(38,10) DEFAULT NULL,
  `d65` decimal(65,30) DEFAULT NULL,
  `flag` tinyint(1) DEFAULT NULL,
  `not_flag` tinyint(1) DEFAULT NULL,
  `bits` bit(10) DEFAULT NULL,
  `all_bits` bit(64) DEFAULT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
INSERT INTO `numbers` VALUES (-128,255,8388607,4294967295,9223372036854775807,9007199254740991,18446744073709551615,9223372036854775807,00000000000000000007,1234567890123456789012345678.0123456789,12345678901234567890123456789012345.123456789012345678901234567890,1,2,b'1010101010',0xFFFFFFFFFFFFFFFF);
INSERT INTO `numbers` VALUES (127,0,-8388608,0,-9223372036854775808,-9007199254740991,0,0,18446744073709551615,-0.0000000001,-0.000000000000000000000000000001,0,0,b'0',0x0);
INSERT INTO `numbers` VALUES (0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);

CREATE TABLE `times` (
  `id` int(11) NOT NULL AUTO_INCREMENT,
  `d` date DEFAULT NULL,
  `d_zero` date NOT NULL DEFAULT '0000-00-00',
  `d_month` date DEFAULT NULL,
  `d_day` date DEFAULT NULL,
  `dt` datetime DEFAULT NULL,
  `dt_zero` datetime NOT NULL DEFAULT '0000-00-00 00:00:00',
  `dt1` datetime(1) DEFAULT NULL,
  `dt3` datetime(3) DEFAULT NULL,
  `dt6` datetime(6) DEFAULT NULL,
  `ts` timestamp NULL DEFAULT NULL,
  `ts_zero` timestamp NOT NULL DEFAULT '0000-00-00 00:00:00',
  `ts3` timestamp(3) NULL DEFAULT NULL,
  `ts6` timestamp(6) NULL DEFAULT NULL,
  `t` time DEFAULT NULL,
  `t6` time(6) DEFAULT NULL,
  `y` year(4) DEFAULT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
INSERT INTO `times` VALUES (1,'2024-02-29','0000-00-00','2024-00-10','2023-02-30','2024-01-01 00:00:00','0000-00-00 00:00:00','2024-01-01 00:00:00.5','2024-01-01 00:00:00.120','2024-01-01 00:00:00.123456','2038-01-19 03:14:07','0000-00-00 00:00:00','2024-01-01 00:00:00.001','2024-01-01 00:00:00.999999','04:05:06','-838:59:59.000000',2155);
INSERT INTO `times` VALUES (2,'9999-12-31','2024-01-01','2024-01-10','2024-02-29','9999-12-31 23:59:59','2024-01-01 00:00:00','1000-01-01 00:00:00.0','1000-01-01 00:00:00.999','9999-12-31 23:59:59.999999','1970-01-01 00:00:01','2024-01-01 00:00:00','2038-01-19 03:14:07.999','1970-01-01 00:00:01.000001','838:59:59','00:00:00.000001',1901);
INSERT INTO `times` VALUES (3,NULL,'0000-00-00','0000-00-00','2024-04-31',NULL,'2024-00-00 12:00:00',NULL,NULL,NULL,NULL,'0000-00-00 00:00:00',NULL,NULL,NULL,NULL,0000);

CREATE TABLE `others` (
  `id` char(36) NOT NULL,
  `code` varchar(5) CHARACTER SET ascii COLLATE ascii_bin DEFAULT NULL,
  `old` varchar(20) CHARACTER SET ucs2 COLLATE ucs2_general_ci DEFAULT NULL,
  `tiny` tinytext DEFAULT NULL,
  `medium` mediumtext CHARACTER SET utf8mb3 COLLATE utf8mb3_general_ci DEFAULT NULL,
  `long` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL,
  `with_nul` varchar(10) DEFAULT NULL,
  `doc` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL CHECK (json_valid(`doc`)),
  `fixed` binary(16) DEFAULT NULL,
  `photo` blob DEFAULT NULL,
  `video` longblob DEFAULT NULL,
  `location` point DEFAULT NULL,
  `area` geometry DEFAULT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
INSERT INTO `others` VALUES ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11','ab','Ünïcode','tiny','中文','😀','a\0b','{\"b\":1, \"a\" : [1.50, null, \"\\u00e9\"]}',0x00112233445566778899AABBCCDDEEFF,0xDEADBEEF,'',ST_GeomFromText('POINT(1 2)'),ST_GeomFromText('LINESTRING(0 0,1 1)'));
INSERT INTO `others` VALUES ('','','','','','','','[1e3,\"é\"]',NULL,NULL,NULL,NULL,NULL);
INSERT INTO `others` VALUES ('x',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);

-- Tables whose key is not proven, or that the service does not keep.

CREATE TABLE `log` (
  `at` datetime(6) NOT NULL,
  `line` varchar(100) DEFAULT NULL,
  KEY `at` (`at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
INSERT INTO `log` VALUES ('2024-01-01 00:00:00.000001','one');
INSERT INTO `log` VALUES ('2024-01-01 00:00:00.000002','one');

CREATE TABLE `files` (
  `hash` binary(20) NOT NULL,
  `path` varchar(255) NOT NULL,
  `size` bigint(20) NOT NULL,
  PRIMARY KEY (`hash`),
  UNIQUE KEY `start` (`path`(20))
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
INSERT INTO `files` VALUES (0x2FD4E1C67A2D28FCED849EE1BB76E7391B93EB12,'/a/b',12);

CREATE TABLE `people` (
  `email` varchar(50) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci NOT NULL,
  `boss` varchar(50) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci DEFAULT NULL,
  `since` int(11) DEFAULT NULL,
  UNIQUE KEY `email` (`email`),
  CONSTRAINT `fk_boss` FOREIGN KEY (`boss`) REFERENCES `people` (`email`) ON DELETE SET NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;
INSERT INTO `people` VALUES ('Ada@example.com',NULL,1);
INSERT INTO `people` VALUES ('bob@example.com','Ada@example.com',NULL);
INSERT INTO `people` VALUES ('ç@example.com',NULL,3);

CREATE TABLE `measures` (
  `city` int(11) NOT NULL,
  `year` int(11) NOT NULL,
  `value` decimal(6,3) unsigned DEFAULT NULL,
  PRIMARY KEY (`city`,`year`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci
 PARTITION BY RANGE (`year`)
(PARTITION `p1` VALUES LESS THAN (2000) ENGINE = InnoDB,
 PARTITION `p2` VALUES LESS THAN MAXVALUE ENGINE = InnoDB);
INSERT INTO `measures` VALUES (1,1999,0.001);
INSERT INTO `measures` VALUES (1,2024,999.999);

CREATE TABLE `film_text` (
  `film_id` smallint(6) NOT NULL,
  `title` varchar(255) NOT NULL,
  PRIMARY KEY (`film_id`),
  FULLTEXT KEY `idx_title` (`title`)
) ENGINE=MyISAM DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
INSERT INTO `film_text` VALUES (1,'ACADEMY DINOSAUR');
