/**
 * Records of earlier versions for tests of the upgrade. Only tests import this.
 *
 * @module
 */
import { FORMAT_KEY } from "../format.ts";
import type { Key, Put, Store } from "../store.ts";

const DAY_MS = 86_400_000;

/** Sets records of format 1, whose sessions and grants have no index by user. Resolves to the keys of the grants. */
export async function fillOlder(store: Store, grants: number): Promise<Key[]> {
  const until = Date.now() + DAY_MS;
  const set: Put[] = [
    { key: FORMAT_KEY, value: { version: 1 } },
    { key: ["client", "early"], value: { id: "early", name: "Early", secret_digest: "d", created: 1 } },
    { key: ["client", "early_public"], value: { id: "early_public", name: "Public", created: 1 } },
    {
      key: ["client", "later"],
      value: { id: "later", source: "registration", token_endpoint_auth_method: "none" },
    },
    { key: ["signing_key", "current"], value: { kid: "early" } },
    { key: ["signing_key", "ES256", 1], value: { kid: "later", starts: 1 } },
    { key: ["key_set", "d"], value: { keys: [] } },
    { key: ["access_token", "early"], value: { client_id: "early", scope: "read" }, expires: until },
    { key: ["session", "early"], value: { user: "ada", created: 1 }, expires: until },
    { key: ["session", "s"], value: { user: "ada", created: 1, seen: 2, acr: "password" }, expires: until },
    { key: ["grant", "early"], value: { user: "ada", client_id: "early", created: 1 }, expires: until },
    { key: ["username", "ada"], value: "ada" },
    {
      key: ["skill_version", "default", "skill_0", "skver_0"],
      value: {
        id: "skver_0",
        epoch: "1700000000000000",
        number: 1,
        name: "demo",
        description: "Use it in tests.",
        directory: "demo",
        created: 1_700_000_000_000,
        tokens: { metadata: 1, instructions: 1 },
        files: [],
      },
    },
  ];
  const keys = Array.from({ length: grants }, (_, i) => ["grant", `g${String(i).padStart(6, "0")}`]);
  for (const [i, key] of keys.entries()) {
    set.push({
      key,
      value: { user: `user${i % 7}`, client_id: "later", used: 0, until },
      expires: until,
    });
  }
  for (let i = 0; i < set.length; i += 90) await store.commit({ set: set.slice(i, i + 90) });
  return keys;
}

/** All records, without their versions and without the position of an upgrade. */
export async function recordsOf(store: Store): Promise<unknown[]> {
  const entries = await store.list([], { limit: 1e6 });
  return entries.map(({ key, value, expires }) => ({ key, value, expires }));
}
