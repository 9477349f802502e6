CREATE SCHEMA IF NOT EXISTS main;
CREATE SCHEMA staging;

CREATE TABLE main.customers (
    id INTEGER PRIMARY KEY,
    first_name VARCHAR(40) NOT NULL,
    last_name VARCHAR(40) NOT NULL,
    email VARCHAR(80) NOT NULL,
    city VARCHAR(40) NOT NULL,
    created_at DATE NOT NULL
);

CREATE TABLE main.orders (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL REFERENCES main.customers (id),
    order_date DATE NOT NULL,
    status VARCHAR(20) NOT NULL,
    amount NUMERIC(10, 2) NOT NULL
);

CREATE TABLE main.payments (
    id INTEGER PRIMARY KEY,
    order_id INTEGER NOT NULL REFERENCES main.orders (id),
    method VARCHAR(20) NOT NULL,
    amount NUMERIC(10, 2) NOT NULL
);

CREATE TABLE staging.raw_payments (id INTEGER, payload VARCHAR(200));

INSERT INTO main.customers VALUES
    (1, 'Ada', 'Holm', 'ada@bakery.example', 'Oslo', DATE '2024-01-05'),
    (2, 'Ben', 'Iqbal', 'ben@bakery.example', 'Bergen', DATE '2024-01-20'),
    (3, 'Cleo', 'Jansen', 'cleo@bakery.example', 'Oslo', DATE '2024-02-11'),
    (4, 'Dag', 'Krog', 'dag@bakery.example', 'Bodø', DATE '2024-03-02');

INSERT INTO main.orders VALUES
    (101, 1, DATE '2024-01-06', 'completed', 40.00),
    (102, 2, DATE '2024-01-25', 'completed', 18.50),
    (103, 1, DATE '2024-02-02', 'returned', 25.00),
    (104, 3, DATE '2024-02-14', 'completed', 62.25),
    (105, 3, DATE '2024-02-28', 'placed', 12.00),
    (106, 4, DATE '2024-03-05', 'completed', 30.00),
    (107, 2, DATE '2024-03-09', 'placed', 9.75),
    (108, 1, DATE '2024-03-21', 'returned', 14.00);

INSERT INTO main.payments VALUES
    (1, 101, 'card', 40.00),
    (2, 102, 'cash', 18.50),
    (3, 103, 'card', 25.00),
    (4, 104, 'card', 62.25),
    (5, 106, 'voucher', 10.00),
    (6, 106, 'card', 20.00),
    (7, 108, 'card', 14.00);

INSERT INTO staging.raw_payments VALUES (1, '{"card": "4111"}');
