-- A small online store that two shops share; every row belongs to one shop (store_id).
CREATE TABLE customers (
    customer_id INTEGER PRIMARY KEY,
    store_id TEXT NOT NULL,
    name TEXT NOT NULL,
    city TEXT NOT NULL
);
CREATE TABLE orders (
    order_id INTEGER PRIMARY KEY,
    store_id TEXT NOT NULL,
    customer_id INTEGER NOT NULL REFERENCES customers (customer_id),
    status TEXT NOT NULL,
    amount NUMERIC NOT NULL,
    ordered_on TEXT NOT NULL
);
INSERT INTO customers VALUES
    (1, 's1', 'Ada Byron', 'Leeds'),
    (2, 's1', 'Bram Kuiper', 'Utrecht'),
    (3, 's1', 'Chiara Sala', 'Parma'),
    (4, 's2', 'Dag Solberg', 'Bergen'),
    (5, 's2', 'Elif Kaya', 'Bursa');
INSERT INTO orders VALUES
    (101, 's1', 1, 'DELIVERED', 1200.50, '2026-01-04'),
    (102, 's1', 2, 'DELIVERED', 800.00, '2026-01-09'),
    (103, 's1', 1, 'CANCELLED', 500.00, '2026-01-15'),
    (104, 's1', 3, 'DELIVERED', 249.50, '2026-02-02'),
    (105, 's1', 2, 'RETURNED', 75.25, '2026-02-11'),
    (106, 's2', 4, 'DELIVERED', 9900.00, '2026-01-20'),
    (107, 's2', 5, 'CANCELLED', 310.00, '2026-02-05'),
    (108, 's2', 4, 'DELIVERED', 120.00, '2026-02-14');
