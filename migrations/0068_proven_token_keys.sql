-- The public key, sealed under the master key and bound to key_id. It proves that the platform has made the key: whoever can only write
-- to the database cannot add a key of their own. It stays when the private key is deleted. Null: a version that did not know it has
-- made the key; the sealed private key proves it as long as it is there.
alter table token_keys add column sealed_public_key bytea;
