-- What only MariaDB has, restored after mysql.sql: two types of columns, system versioning and sequences.

/*!40101 SET NAMES utf8mb4 */;

CREATE TABLE `hosts` (
  `uid` uuid NOT NULL,
  `host` inet6 DEFAULT NULL,
  `old_host` inet4 DEFAULT NULL,
  PRIMARY KEY (`uid`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
INSERT INTO `hosts` VALUES ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11','2001:db8::ff00:42:8329','10.0.0.1');
INSERT INTO `hosts` VALUES ('ffffffff-ffff-ffff-ffff-ffffffffffff','::ffff:10.0.0.1','255.255.255.255');
INSERT INTO `hosts` VALUES ('00000000-0000-0000-0000-000000000000',NULL,NULL);

CREATE TABLE `prices` (
  `id` int(11) NOT NULL,
  `price` decimal(6,2) DEFAULT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci WITH SYSTEM VERSIONING;
INSERT INTO `prices` VALUES (1,1.50);
UPDATE `prices` SET `price` = 2.50;

CREATE SEQUENCE `ticket` start with 1 minvalue 1 maxvalue 9223372036854775806 increment by 1 cache 1000 nocycle ENGINE=InnoDB;
