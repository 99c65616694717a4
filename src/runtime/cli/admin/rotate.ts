/**
 * `trivet rotate`: new signing keys and a new server secret, while servers run on the store.
 *
 * @module
 */
import {
  type AdminServerSecret,
  type AdminSigningKey,
  listServerSecrets,
  listSigningKeys,
  rotateServerSecret,
  rotateSigningKeys,
} from "../../../admin/operations/keys_of_server.ts";
import { JWS_ALGORITHMS } from "../../../crypto/jws.ts";
import { formatTime, printError, printLine, printTable, UsageError } from "../output.ts";
import { type AdminAction, adminAction, type AdminCommand, adminCommand } from "./admin_action.ts";

const REVOKE_OPTIONS = {
  "revoke-old": {
    summary: "after a compromise: nothing that an old key or secret signed is accepted any more",
  },
} as const;

const signingKeys: AdminAction = adminAction({
  operands: "",
  summary: "makes the next signing keys",
  options: {
    now: { summary: "the new key signs at once" },
    notice: {
      value: "SECONDS",
      range: [0, 30 * 86_400],
      unit: "seconds",
      summary: "how long the new key is published before it signs",
      shownDefault: "86400",
    },
    alg: {
      value: "ALG",
      isRepeatable: true,
      words: JWS_ALGORITHMS,
      summary: "only the keys of this algorithm",
    },
    ...REVOKE_OPTIONS,
  },
  run({ call, values: { now, notice, alg: algorithms, "revoke-old": revoke_old } }) {
    if (now && notice !== undefined) throw new UsageError("--now and --notice exclude each other");
    return call(rotateSigningKeys, { notice_seconds: now ? 0 : notice, algorithms, revoke_old });
  },
  print({ data: keys }) {
    if (keys.length > 0) printKeys(keys);
    else printLine("There are no signing keys yet: the server makes them when it needs them");
  },
});

const serverSecret: AdminAction = adminAction({
  operands: "",
  summary: "makes a new server secret; takes half a minute",
  options: {
    "keep-days": {
      value: "N",
      range: [1, 400],
      unit: "days",
      summary: "how long what the old secret signed is accepted",
      default: 30,
    },
    ...REVOKE_OPTIONS,
  },
  run({ call, values: { "keep-days": keep_days, "revoke-old": revoke_old } }) {
    printError("Every server learns of the new secret before it is used: this takes half a minute");
    return call(rotateServerSecret, { keep_days, revoke_old });
  },
  print({ resumed, resealed, secrets }) {
    if (resumed) printLine("Finished the rotation that was interrupted");
    printLine(`${resealed} records sealed with the new secret`);
    printSecrets(secrets);
  },
});

const list: AdminAction = adminAction({
  operands: "",
  summary: "lists signing keys and server secrets, by their ids",
  options: {},
  run: async ({ call }) => ({
    signing_keys: (await call(listSigningKeys, {})).data,
    server_secrets: (await call(listServerSecrets, {})).data,
  }),
  print({ signing_keys, server_secrets }) {
    printKeys(signing_keys);
    printLine("");
    if (server_secrets.length > 0) printSecrets(server_secrets);
    else printLine("The server secret was never rotated");
  },
});

export const command: AdminCommand = adminCommand({
  name: "rotate",
  title: "makes new signing keys and a new server secret",
  actions: { "signing-keys": signingKeys, "server-secret": serverSecret, list },
  notes:
    `The servers on the store go on, and follow within a minute. A server also makes a new signing key every 90 days by
itself. A rotation of the secret that was interrupted is finished by the next one; with --revoke-old it is replaced.`,
  examples: [
    "trivet rotate signing-keys",
    "trivet rotate signing-keys --revoke-old",
    "trivet rotate server-secret --url https://agents.example.com",
  ],
});

function printKeys(keys: readonly AdminSigningKey[]): void {
  printTable(
    ["KEY", "ALGORITHM", "STATE", "SIGNS FROM", "ACCEPTED UNTIL"],
    keys.map(({ id, algorithm, state, signs_from, accepted_until }) => [
      id,
      algorithm,
      state,
      formatTime(signs_from),
      formatTime(accepted_until),
    ]),
  );
}

function printSecrets(secrets: readonly AdminServerSecret[]): void {
  printTable(
    ["SECRET", "STATE", "USED FROM", "ACCEPTED UNTIL"],
    secrets.map(({ id, state, used_from, accepted_until }) => [
      id,
      state,
      Date.parse(used_from) === 0 ? "the start" : formatTime(used_from),
      formatTime(accepted_until),
    ]),
  );
}
