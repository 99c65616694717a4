/**
 * `trivet rotate`: new signing keys and a new server secret, while servers run on the store.
 *
 * @module
 */
import process from "node:process";
import { COMMAND_LINE } from "../../admin/operation.ts";
import { createAudit } from "../../observability/audit.ts";
import { JWS_ALGORITHMS } from "../../crypto/jws.ts";
import {
  listSigningKeys,
  rotateSigningKeys,
  type ShownSigningKey,
} from "../../oauth/tokens/rotate_signing_keys.ts";
import {
  listServerSecrets,
  rotateServerSecret,
  type ShownServerSecret,
} from "../../server_secret/rotate_secret.ts";
import type { Store } from "../../store/store.ts";
import { unknownAction } from "./actions.ts";
import { DATA_OPTIONS, readPlace, withStore } from "./data.ts";
import { describeOptions, readArguments, type ValuesOf } from "./options.ts";
import { formatTime, printError, printLine, printTable, UsageError } from "./output.ts";

const COMMON_OPTIONS = { ...DATA_OPTIONS, json: { summary: "print JSON" } } as const;
const REVOKE_OPTIONS = {
  "revoke-old": {
    summary: "after a compromise: nothing that an old key or secret signed is accepted any more",
  },
} as const;
const KEY_OPTIONS = {
  now: { summary: "the new key signs at once" },
  notice: {
    value: "N",
    range: [0, 30 * 86_400],
    unit: "seconds",
    summary: "how long the new key is published before it signs",
    default: 86_400,
  },
  alg: {
    value: "ALG",
    isRepeatable: true,
    words: JWS_ALGORITHMS,
    summary: "only the keys of this algorithm",
  },
} as const;
const SECRET_OPTIONS = {
  "keep-days": {
    value: "N",
    range: [1, 400],
    unit: "days",
    summary: "how long what the old secret signed is accepted",
    default: 30,
  },
} as const;
const ALL_OPTIONS = { ...COMMON_OPTIONS, ...REVOKE_OPTIONS, ...KEY_OPTIONS, ...SECRET_OPTIONS } as const;

export const help: string = `trivet rotate: makes new signing keys and a new server secret

Usage: trivet rotate signing-keys [options]
       trivet rotate server-secret [options]
       trivet rotate list [options]

${describeOptions({ ...COMMON_OPTIONS, ...REVOKE_OPTIONS })}

signing-keys:
${describeOptions(KEY_OPTIONS)}

server-secret:
${describeOptions(SECRET_OPTIONS)}

The servers on the store go on, and follow within a minute. A server also makes a new signing key every 90 days by
itself. A new server secret takes half a minute; a command that was interrupted is finished by the next one.

Examples:
  trivet rotate signing-keys
  trivet rotate signing-keys --revoke-old
  trivet rotate server-secret
`;

export async function run(argv: readonly string[]): Promise<void> {
  const { values, given, operands: [action] } = readArguments(argv, ALL_OPTIONS, 1);
  const place = readPlace(values, process.env);
  switch (action) {
    case "signing-keys":
      if (values.now && given.has("notice")) throw new UsageError("--now and --notice exclude each other");
      return await withStore(place, (store) => rotateKeys(store, values));
    case "server-secret":
      return await withStore(place, (store) => rotateSecret(store, values));
    case "list":
      return await withStore(place, (store) => list(store, values.json));
    default:
      throw unknownAction(action, ["signing-keys", "server-secret", "list"]);
  }
}

async function rotateKeys(store: Store, values: ValuesOf<typeof ALL_OPTIONS>): Promise<void> {
  const keys = await rotateSigningKeys(store, {
    ...(values.alg && { algorithms: values.alg }),
    notice: values.now ? 0 : values.notice,
    revokeOld: values["revoke-old"],
  });
  await addAuditRecord(store, "rotateSigningKeys", keys.at(-1)?.kid ?? "none");
  if (values.json) return printLine(JSON.stringify(keys));
  if (keys.length === 0) {
    return printLine("There are no signing keys yet: the server makes them when it needs them");
  }
  printKeys(keys);
}

async function rotateSecret(store: Store, values: ValuesOf<typeof ALL_OPTIONS>): Promise<void> {
  printError("Every server learns of the new secret before it is used: this takes half a minute");
  const rotation = await rotateServerSecret(store, {
    retentionDays: values["keep-days"],
    revokeOld: values["revoke-old"],
  });
  await addAuditRecord(store, "rotateServerSecret", rotation.id);
  if (values.json) return printLine(JSON.stringify(rotation));
  const { isResumed, resealed, secrets } = rotation;
  if (isResumed) printLine("Finished the rotation that was interrupted");
  printLine(`${resealed} records sealed with the new secret`);
  printSecrets(secrets);
}

/** A change of a command is in the audit trail of the store, as one by the API is. */
async function addAuditRecord(store: Store, operation: string, subject: string): Promise<void> {
  const audit = createAudit({ store });
  audit.add({ type: "admin_changed", operation, subject, actor: COMMAND_LINE });
  await audit.close();
}

async function list(store: Store, json: boolean): Promise<void> {
  const signing_keys = await listSigningKeys(store);
  const server_secrets = await listServerSecrets(store);
  if (json) return printLine(JSON.stringify({ signing_keys, server_secrets }));
  printKeys(signing_keys);
  printLine("");
  if (server_secrets.length > 0) printSecrets(server_secrets);
  else printLine("The server secret was never rotated");
}

function printKeys(keys: readonly ShownSigningKey[]): void {
  printTable(
    ["KEY", "ALGORITHM", "STATE", "SIGNS FROM", "ACCEPTED UNTIL"],
    keys.map(({ kid, alg, state, starts, expires }) => [
      kid,
      alg,
      state,
      formatTime(starts),
      formatTime(expires),
    ]),
  );
}

function printSecrets(secrets: readonly ShownServerSecret[]): void {
  printTable(
    ["SECRET", "STATE", "USED FROM", "ACCEPTED UNTIL"],
    secrets.map(({ id, state, starts, expires }) => [
      id,
      state,
      starts === 0 ? "the start" : formatTime(starts),
      formatTime(expires),
    ]),
  );
}
