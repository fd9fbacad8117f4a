-- A shop as many desktop applications write it: text dates with a time part, REAL prices, VARCHAR lengths,
-- defaults, and names in Pascal case.
PRAGMA foreign_keys = OFF;

CREATE TABLE Categories (
  CategoryID INTEGER PRIMARY KEY AUTOINCREMENT,
  CategoryName VARCHAR(15) NOT NULL UNIQUE,
  Description TEXT,
  Picture BLOB
);

CREATE TABLE Customers (
  CustomerID NCHAR(5) NOT NULL PRIMARY KEY,
  CompanyName NVARCHAR(40) NOT NULL,
  Country NVARCHAR(15),
  City NVARCHAR(15),
  Newsletter CHAR(1) NOT NULL DEFAULT 'N' CHECK (Newsletter IN ('Y', 'N')),
  Registered DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX CustomersByPlace ON Customers (Country, City DESC);

CREATE TABLE Employees (
  EmployeeID INTEGER PRIMARY KEY,
  LastName NVARCHAR(20) NOT NULL,
  BirthDate DATETIME,
  HireDate DATE,
  Salary MONEY,
  ReportsTo INTEGER REFERENCES Employees (EmployeeID) ON DELETE SET NULL
);

CREATE TABLE Products (
  ProductID INTEGER PRIMARY KEY AUTOINCREMENT,
  ProductName NVARCHAR(40) NOT NULL,
  CategoryID INTEGER REFERENCES Categories,
  UnitPrice REAL DEFAULT 0,
  Weight REAL,
  UnitsInStock SMALLINT DEFAULT 0 CHECK (UnitsInStock >= 0),
  Discontinued BOOLEAN NOT NULL DEFAULT 0,
  Size VARCHAR(2) CHECK (Size IN ('S', 'M', 'L', 'XL')),
  UnitPriceWithTax REAL GENERATED ALWAYS AS (UnitPrice * 1.25) VIRTUAL,
  UNIQUE (ProductName, Size)
);

CREATE TABLE Orders (
  OrderID INTEGER PRIMARY KEY AUTOINCREMENT,
  CustomerID NCHAR(5) NOT NULL REFERENCES Customers (CustomerID) ON DELETE CASCADE,
  EmployeeID INTEGER REFERENCES Employees,
  OrderDate DATETIME NOT NULL,
  RequiredDate DATETIME,
  ShippedDate DATETIME,
  Freight DECIMAL(10, 4) DEFAULT 0,
  ShipName TEXT
);

CREATE TABLE "Order Details" (
  OrderID INTEGER NOT NULL REFERENCES Orders ON DELETE CASCADE,
  ProductID INTEGER NOT NULL REFERENCES Products,
  UnitPrice REAL NOT NULL DEFAULT 0,
  Quantity INTEGER NOT NULL DEFAULT 1,
  Discount REAL NOT NULL DEFAULT 0,
  PRIMARY KEY (OrderID, ProductID)
) WITHOUT ROWID;

CREATE TABLE Shipments (
  ShipmentID CHAR(36) NOT NULL PRIMARY KEY,
  OrderID INTEGER NOT NULL,
  ProductID INTEGER NOT NULL,
  ShippedAt TEXT NOT NULL,
  FOREIGN KEY (OrderID, ProductID) REFERENCES "Order Details" (OrderID, ProductID)
);

CREATE VIEW "Order Totals" AS
  SELECT OrderID, count(*) AS Lines, sum(Quantity) AS Pieces, round(sum(UnitPrice * Quantity), 2) AS Total
  FROM "Order Details" GROUP BY OrderID;

CREATE TRIGGER ShipNames AFTER INSERT ON Orders WHEN new.ShipName IS NULL BEGIN
  UPDATE Orders SET ShipName = (SELECT CompanyName FROM Customers WHERE CustomerID = new.CustomerID)
  WHERE OrderID = new.OrderID;
END;

INSERT INTO Categories (CategoryName, Description, Picture) VALUES
  ('Beverages', 'Soft drinks, coffees, teas', x'151c2f00'),
  ('Condiments', NULL, NULL),
  ('Seafood', 'Seaweed and fish: "fresh"', x'ffd8');

INSERT INTO Customers (CustomerID, CompanyName, Country, City, Newsletter, Registered) VALUES
  ('ALFKI', 'Alfheim Futterhof', 'Norway', 'Bodø', 'Y', '2019-02-28 08:15:00'),
  ('BERGS', 'Berglunds snabbköp', 'Sweden', 'Luleå', 'N', '2020-02-29 23:59:59'),
  ('CHOPS', '中国茶', 'Switzerland', NULL, 'Y', '2021-12-31 00:00:00');

INSERT INTO Employees VALUES
  (1, 'Fuller', '1952-02-19 00:00:00', '1992-08-14', 5200.5, NULL),
  (2, 'Davolio', '1948-12-08 00:00:00', '1992-05-01', 4100, 1),
  (3, 'O''Hara', NULL, NULL, 3999.99, 1);

INSERT INTO Products (ProductName, CategoryID, UnitPrice, Weight, UnitsInStock, Discontinued, Size) VALUES
  ('Chai', 1, 18, 0.333, 39, 0, 'S'),
  ('Chai', 1, 21.5, 0.5, 12, 0, 'L'),
  ('Aniseed Syrup', 2, 10.05, 1e-7, 0, 1, NULL),
  ('Röd kaviar', 3, 15.1, 0.1, 101, 0, 'XL'),
  ('Gift', NULL, NULL, NULL, 1, 1, NULL);

INSERT INTO "Order Details"
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250)
SELECT 10247 + i / 2, 1 + i % 5, round(9.9 + i * 0.07, 2), 1 + i % 7, (i % 4) * 0.05 FROM n;

INSERT INTO Orders (OrderID, CustomerID, EmployeeID, OrderDate, RequiredDate, ShippedDate, Freight)
SELECT OrderID, substr('ALFKIBERGSCHOPS', 1 + 5 * (OrderID % 3), 5), 1 + OrderID % 3,
  datetime('1996-07-04', '+' || (OrderID - 10247) || ' days', '+' || (OrderID % 24) || ' hours'),
  datetime('1996-08-01', '+' || (OrderID - 10247) || ' days'),
  CASE WHEN OrderID % 4 > 0 THEN datetime('1996-07-16', '+' || (OrderID - 10247) || ' days') END,
  round(32.38 + OrderID % 100 / 16.0, 4)
FROM (SELECT DISTINCT OrderID FROM "Order Details");

INSERT INTO Shipments VALUES
  ('0b8f4f4e-2f0a-4c8e-9d1f-0f6a3f0a1b2c', 10248, 4, '2024-03-10 02:30:00.125'),
  ('ffffffff-2f0a-4c8e-9d1f-0f6a3f0a1b2d', 10249, 3, '2024-03-31 23:59:59');
