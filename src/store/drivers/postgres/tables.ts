/**
 * The tables of the store in PostgreSQL, and its functions, which take a commit in one round trip.
 *
 * @module
 */

/** The migrations, in order. The version of a database is the number of migrations that it has. `$` is the schema. */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE $.record (
    key text COLLATE "C" PRIMARY KEY, value text, bytes bytea, version bigint NOT NULL, expires bigint
  );
  CREATE INDEX record_expires ON $.record (expires) WHERE expires IS NOT NULL;
  CREATE SEQUENCE $.version;
  -- Until its first use a sequence shows its first value already, and a watcher that polls would miss that use.
  SELECT nextval('$.version');
  CREATE TABLE $.watching (watcher text PRIMARY KEY, prefixes text[] NOT NULL, until timestamptz NOT NULL);

  CREATE FUNCTION $.commit(
    "time" bigint, check_keys text[], check_versions bigint[], remove_keys text[],
    set_keys text[], set_values text[], set_bytes bytea[], set_expires bigint[]
  ) RETURNS boolean LANGUAGE plpgsql AS $body$
  DECLARE
    touched text[] := check_keys || remove_keys || set_keys;
    everything bigint := hashtextextended('$', '$.record'::regclass::oid::bigint);
    next bigint;
    payload text;
    k text;
  BEGIN
    -- Rows are found one by one: plans are kept, and one for many rows that was made while the table was small would
    -- read the whole table when it is large.
    -- The server has room for some thousand locks: a commit of many keys takes one for everything instead.
    IF cardinality(touched) > 100 THEN
      PERFORM pg_advisory_xact_lock(everything);
    ELSE
      PERFORM pg_advisory_xact_lock_shared(everything);
      PERFORM pg_advisory_xact_lock(lock) FROM (
        SELECT DISTINCT hashtextextended(name, '$.record'::regclass::oid::bigint) AS lock FROM unnest(touched) AS name ORDER BY 1
      ) AS locks;
    END IF;
    IF cardinality(check_keys) > 0 AND EXISTS (
      SELECT FROM unnest(check_keys, check_versions) AS c(key, version) WHERE c.version IS DISTINCT FROM (
        SELECT r.version FROM $.record AS r WHERE r.key = c.key AND (r.expires IS NULL OR r.expires > "time")
      )
    ) THEN
      RETURN false;
    END IF;
    next := nextval('$.version');
    FOREACH k IN ARRAY remove_keys LOOP
      DELETE FROM $.record WHERE key = k;
    END LOOP;
    IF cardinality(set_keys) > 0 THEN
      INSERT INTO $.record (key, value, bytes, version, expires)
      SELECT s.key, s.value, s.bytes, next, s.expires
      FROM unnest(set_keys, set_values, set_bytes, set_expires) AS s(key, value, bytes, expires)
      ON CONFLICT (key) DO UPDATE SET
        value = excluded.value, bytes = excluded.bytes, version = excluded.version, expires = excluded.expires;
    END IF;
    -- NOTIFY makes commits of the whole database wait for each other: only when a watcher watches these keys.
    IF EXISTS (
      SELECT FROM $.watching AS w, unnest(w.prefixes) AS prefix, unnest(remove_keys || set_keys) AS changed
      WHERE w.until > now() AND starts_with(changed, prefix)
    ) THEN
      payload := array_to_json(remove_keys || set_keys)::text;
      PERFORM pg_notify('$', CASE WHEN octet_length(payload) < 7900 THEN payload ELSE '' END);
    END IF;
    RETURN true;
  END
  $body$;
  `,
  // Commits without a common key, in one transaction. The numbers say which commit an element belongs to.
  `
  CREATE FUNCTION $.commits(
    "time" bigint, count int, check_keys text[], check_versions bigint[], check_of int[],
    remove_keys text[], remove_of int[],
    set_keys text[], set_values text[], set_bytes bytea[], set_expires bigint[], set_of int[]
  ) RETURNS text LANGUAGE plpgsql AS $body$
  DECLARE
    touched text[] := check_keys || remove_keys || set_keys;
    failed int[];
    changed text[] := '{}';
    next bigint;
    payload text;
  BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('$', '$.record'::regclass::oid::bigint));
    PERFORM pg_advisory_xact_lock(lock) FROM (
      SELECT DISTINCT hashtextextended(name, '$.record'::regclass::oid::bigint) AS lock FROM unnest(touched) AS name ORDER BY 1
    ) AS locks;
    SELECT coalesce(array_agg(DISTINCT c.number), '{}') INTO failed
    FROM unnest(check_keys, check_versions, check_of) AS c(key, version, number)
    WHERE c.version IS DISTINCT FROM (
      SELECT r.version FROM $.record AS r WHERE r.key = c.key AND (r.expires IS NULL OR r.expires > "time")
    );
    next := nextval('$.version');
    FOR i IN 1 .. cardinality(remove_keys) LOOP
      CONTINUE WHEN remove_of[i] = ANY (failed);
      DELETE FROM $.record WHERE key = remove_keys[i];
      changed := changed || remove_keys[i];
    END LOOP;
    IF cardinality(set_keys) > 0 THEN
      INSERT INTO $.record (key, value, bytes, version, expires)
      SELECT s.key, s.value, s.bytes, next, s.expires
      FROM unnest(set_keys, set_values, set_bytes, set_expires, set_of) AS s(key, value, bytes, expires, number)
      WHERE s.number <> ALL (failed)
      ON CONFLICT (key) DO UPDATE SET
        value = excluded.value, bytes = excluded.bytes, version = excluded.version, expires = excluded.expires;
    END IF;
    IF EXISTS (SELECT FROM $.watching AS w WHERE w.until > now()) THEN
      SELECT changed || coalesce(array_agg(s.key), '{}') INTO changed
      FROM unnest(set_keys, set_of) AS s(key, number) WHERE s.number <> ALL (failed);
      SELECT json_agg(k)::text INTO payload FROM unnest(changed) AS k WHERE EXISTS (
        SELECT FROM $.watching AS w, unnest(w.prefixes) AS prefix WHERE w.until > now() AND starts_with(k, prefix)
      );
      IF payload IS NOT NULL THEN
        PERFORM pg_notify('$', CASE WHEN octet_length(payload) < 7900 THEN payload ELSE '' END);
      END IF;
    END IF;
    RETURN (
      SELECT string_agg(CASE WHEN number = ANY (failed) THEN '0' ELSE '1' END, '' ORDER BY number)
      FROM generate_series(1, count) AS number
    );
  END
  $body$;
  `,
];
