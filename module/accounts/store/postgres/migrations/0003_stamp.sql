ALTER TABLE gateway_state ADD COLUMN stamp TEXT NOT NULL DEFAULT ''; -- a random one for each revision: a copy that is restored counts on from an older one
UPDATE gateway_state SET stamp = concat(random(), ' ', clock_timestamp());
