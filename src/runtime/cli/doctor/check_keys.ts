/**
 * Checks the signing keys and the secret of the server, without showing them.
 *
 * @module
 */
import { listSigningKeys } from "../../../oauth/tokens/rotate_signing_keys.ts";
import { listServerSecrets } from "../../../server_secret/rotate_secret.ts";
import { type Store, timeOf } from "../../../store/store.ts";
import { formatTime } from "../output.ts";
import { type Finding, ok, warn } from "./finding.ts";

const DAY_MS = 86_400_000;
/** The default of the option `signingKeyLifetime`. */
const KEY_LIFETIME_MS = 90 * DAY_MS;
/** A server publishes the next key at the first request after it is due. */
const LATE_MS = 2 * DAY_MS;
/** A rotation takes half a minute. */
const ROTATION_MS = 10 * 60_000;

export async function checkSigningKeys(store: Store): Promise<readonly Finding[]> {
  const now = timeOf(store);
  const keys = await listSigningKeys(store);
  const current = keys.filter(({ state }) => state === "current");
  if (current.length === 0) {
    return [ok("keys", "there are no signing keys yet: the server makes them at first use")];
  }
  return current.map(({ kid, alg, starts }) => {
    const next = keys.find((key) => key.alg === alg && key.state === "next");
    const age = `the ${alg} key ${kid} signs for ${Math.max(0, Math.floor((now - starts) / DAY_MS))} days`;
    if (!next && now - starts > KEY_LIFETIME_MS + LATE_MS) {
      return warn("keys", `${age}, and there is no next one`, "run: trivet rotate signing-keys");
    }
    const changes = next?.starts ?? starts + KEY_LIFETIME_MS;
    return ok("keys", `${age}; the next one signs from ${formatTime(changes)} on`);
  });
}

export async function checkServerSecret(store: Store): Promise<readonly Finding[]> {
  const now = timeOf(store);
  const secrets = await listServerSecrets(store);
  const last = secrets.at(-1);
  if (!last) return [ok("secret", "the server secret was never rotated")];
  const isOpen = secrets.slice(0, -1).some(({ expires }) => expires === undefined);
  if (isOpen && now - last.starts > ROTATION_MS) {
    return [
      warn("secret", "a rotation of the server secret was interrupted", "run: trivet rotate server-secret"),
    ];
  }
  const previous = secrets.length - 1;
  return [
    ok(
      "secret",
      `the server secret is of ${formatTime(last.created)}, and ${previous} earlier ones are accepted`,
    ),
  ];
}
