/**
 * Operations on the signing keys and the secret of the server. No answer has a key or a secret, only their ids.
 *
 * @module
 */
import { JWS_ALGORITHMS, type JwsAlgorithm } from "../../crypto/jws.ts";
import {
  listSigningKeys as list,
  rotateSigningKeys as rotate,
} from "../../oauth/tokens/rotate_signing_keys.ts";
import {
  listServerSecrets as listSecrets,
  rotateServerSecret as rotateSecret,
  type ShownServerSecret,
} from "../../server_secret/rotate_secret.ts";
import { type Page, pageOf } from "../list_page.ts";
import { type AdminOperation, refuseInvalid, toIso, toIsoOrNull } from "../operation.ts";
import { count, flag, input, object, oneOf, orNull, text, time } from "../schema.ts";

/** A signing key in an answer. */
export interface AdminSigningKey {
  readonly id: string;
  readonly algorithm: string;
  readonly state: "next" | "current" | "retired";
  readonly created: string;
  readonly signs_from: string;
  /** `null` while no later key was made. */
  readonly accepted_until: string | null;
}

const SIGNING_KEY = object({
  id: text("the id, which is in the header of each token (kid)"),
  algorithm: oneOf(JWS_ALGORITHMS, "what it signs with"),
  state: oneOf(["next", "current", "retired"], "whether it signs: a next key is published before"),
  created: time("when it was made"),
  signs_from: time("when it begins to sign"),
  accepted_until: orNull(time("until when it is published")),
});

const toPage = (keys: Awaited<ReturnType<typeof list>>): Page<AdminSigningKey> => ({
  data: keys.map(({ kid, alg, state, created, starts, expires }) => ({
    id: kid,
    algorithm: alg,
    state,
    created: toIso(created),
    signs_from: toIso(starts),
    accepted_until: toIsoOrNull(expires),
  })),
  has_more: false,
  next_page: null,
});

export const listSigningKeys: AdminOperation<object, Page<AdminSigningKey>> = {
  name: "listSigningKeys",
  method: "GET",
  path: "/signing_keys",
  summary: "List signing keys",
  input: input({}),
  output: pageOf(SIGNING_KEY),
  run: async ({ store }) => toPage(await list(store)),
};

/** What a rotation of the signing keys is to do. */
export interface SigningKeyRotation {
  readonly notice_seconds?: number;
  readonly revoke_old?: boolean;
  readonly algorithms?: readonly JwsAlgorithm[];
}

export const rotateSigningKeys: AdminOperation<SigningKeyRotation, Page<AdminSigningKey>> = {
  name: "rotateSigningKeys",
  method: "POST",
  path: "/signing_keys/rotate",
  summary: "Make the next signing keys; those before are accepted until their last token has expired",
  input: input({
    notice_seconds: count("how long a key is published before it signs; 0 for at once; 86400 when left out", {
      max: 30 * 86_400,
    }),
    revoke_old: flag("after a compromise: the new keys sign at once, and no other is accepted"),
    algorithms: {
      type: "array",
      items: { type: "string", enum: JWS_ALGORITHMS },
      minItems: 1,
      uniqueItems: true,
      description: "only the keys of these algorithms",
    },
  }),
  output: pageOf(SIGNING_KEY),
  subject: (_, { data }) => data.at(-1)?.id ?? "none",
  run: ({ store, maxTokenLifetime }, { notice_seconds, revoke_old, algorithms }) =>
    refuseInvalid(async () =>
      toPage(
        await rotate(store, {
          ...(notice_seconds !== undefined && { notice: notice_seconds }),
          ...(revoke_old !== undefined && { revokeOld: revoke_old }),
          ...(algorithms && { algorithms }),
          ...(maxTokenLifetime !== undefined && { maxTokenLifetime }),
        }),
      )
    ),
};

/** What a rotation of the server secret is to do. */
export interface ServerSecretRotation {
  readonly keep_days?: number;
  readonly revoke_old?: boolean;
}

/** A server secret in an answer, without its value. */
export interface AdminServerSecret {
  readonly id: string;
  readonly state: "next" | "current" | "previous";
  readonly used_from: string;
  readonly accepted_until: string | null;
}

const SERVER_SECRET = object({
  id: text("the id"),
  state: oneOf(["next", "current", "previous"], "what a previous one signed is still accepted"),
  used_from: time("when it begins to sign; 1970 for the first one"),
  accepted_until: orNull(time("until when it is accepted")),
});

const toSecret = ({ id, state, starts, expires }: ShownServerSecret): AdminServerSecret => ({
  id,
  state,
  used_from: toIso(starts),
  accepted_until: toIsoOrNull(expires),
});

export const listServerSecrets: AdminOperation<object, Page<AdminServerSecret>> = {
  name: "listServerSecrets",
  method: "GET",
  path: "/server_secret",
  summary: "List server secrets; there are none before the first rotation",
  input: input({}),
  output: pageOf(SERVER_SECRET),
  run: async ({ store }) => ({
    data: (await listSecrets(store)).map(toSecret),
    has_more: false,
    next_page: null,
  }),
};

/** What it did. */
export interface AdminServerSecrets {
  readonly id: string;
  readonly resumed: boolean;
  readonly resealed: number;
  readonly secrets: readonly AdminServerSecret[];
}

export const rotateServerSecret: AdminOperation<ServerSecretRotation, AdminServerSecrets> = {
  name: "rotateServerSecret",
  method: "POST",
  path: "/server_secret/rotate",
  summary: "Make a new server secret, and seal all records with it; this takes half a minute",
  input: input({
    keep_days: count("how many days what the old secret signed is accepted; 30 when left out", {
      min: 1,
      max: 400,
    }),
    revoke_old: flag("after a compromise: nothing that an old secret signed is accepted afterwards"),
  }),
  output: object({
    id: text("the id of the secret that signs now"),
    resumed: flag("whether this finished a rotation that was interrupted, instead of beginning another"),
    resealed: count("how many records were sealed anew"),
    secrets: { type: "array", items: SERVER_SECRET },
  }),
  subject: (_, { id }) => id,
  async run({ store }, { keep_days, revoke_old }) {
    const { id, isResumed, resealed, secrets } = await rotateSecret(store, {
      ...(keep_days !== undefined && { retentionDays: keep_days }),
      ...(revoke_old !== undefined && { revokeOld: revoke_old }),
    });
    return {
      id,
      resumed: isResumed,
      resealed,
      secrets: secrets.map(toSecret),
    };
  },
};

/** The operations of this file. */
export const SERVER_KEY_OPERATIONS = [
  listSigningKeys,
  rotateSigningKeys,
  listServerSecrets,
  rotateServerSecret,
] as unknown as readonly AdminOperation[];
