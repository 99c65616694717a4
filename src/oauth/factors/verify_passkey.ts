/**
 * Verifies that a user has one of the passkeys of this server (WebAuthn section 7.2), and registers new ones (section 7.1).
 *
 * @module
 */
import { encodeBase64url } from "../../crypto/base64url.ts";
import { sha256 } from "../../crypto/sha256.ts";
import { LOST_RACE, retryLostRaces } from "../../store/retry.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { type ChallengePurpose, consumeChallenge, findChallenge } from "./challenge.ts";
import { type Passkey, passkeyKey, type UserFactors, userFactorsKey } from "./factor_record.ts";
import type { ExpectedPasskey, NewPasskey } from "./settings.ts";

/** The user of a passkey, and which passkey it is. */
export interface PasskeyProof {
  readonly user: string;
  readonly passkey: Passkey;
}

/** Base64url. Credential ids of passkeys, which the authenticator stores, are short. */
const MAX_CREDENTIAL_ID_CHARACTERS = 512;
/** RSA with 2048 bits has 363. */
const MAX_PUBLIC_KEY_CHARACTERS = 512;
const MAX_RESPONSE_CHARACTERS = 12 * 1024;

/** What every assertion and registration has. */
interface WebAuthnResponse {
  readonly id: string;
  readonly response: { readonly clientDataJSON: string; readonly userHandle?: unknown };
}

/** WebAuthn section 5.4.3: names the user to authenticators, which must not learn who that is. */
export function userHandleOf(user: string): string {
  return encodeBase64url(sha256("passkey user " + user));
}

/** The relying party id of passkeys: a domain (WebAuthn section 5.4.2). */
export function rpIdOf({ factors, issuer }: AuthorizationServer): string {
  return factors.passkeys?.rpId ?? new URL(issuer).hostname;
}

/**
 * Verifies the JSON of an assertion. A passkey as first factor must have verified its user and must name them.
 * @param user whose passkey it must be; `undefined` for the first factor
 */
export async function verifyPasskey(
  as: AuthorizationServer,
  request: Request,
  json: string,
  user: string | undefined,
): Promise<PasskeyProof | undefined> {
  const isFirstFactor = user === undefined;
  const read = await readResponse(as, request, isFirstFactor ? "login" : "factor", json);
  if (!read) return undefined;
  const { response, expected } = read;
  const owner = user ?? (await as.store.get<string>(passkeyKey(response.id)))?.value;
  if (owner === undefined) return undefined;
  // Section 7.2, step 6: the credential belongs to the user whom the handle names.
  const { userHandle } = response.response;
  const isNamed = typeof userHandle === "string" && userHandle !== "";
  if (isNamed ? userHandle !== userHandleOf(owner) : isFirstFactor) return undefined;
  const known = (await as.store.get<UserFactors>(userFactorsKey(owner)))?.value;
  const passkey = known?.passkeys?.find(({ id }) => id === response.id);
  if (!passkey) return undefined;
  const verified = await as.factors.passkeys!.verifyAssertion(response, {
    ...expected,
    userVerification: isFirstFactor,
    id: passkey.id,
    publicKey: passkey.publicKey,
    counter: passkey.counter,
  });
  if (!verified || !await consumeChallenge(as, expected.challenge)) return undefined;
  return await noteUse(as, owner, passkey.id, verified.counter) ? { user: owner, passkey } : undefined;
}

/** Verifies the JSON of a registration. It belongs to no user yet. */
export async function verifyNewPasskey(
  as: AuthorizationServer,
  request: Request,
  json: string,
): Promise<NewPasskey | undefined> {
  const read = await readResponse(as, request, "registration", json);
  if (!read) return undefined;
  const expected: ExpectedPasskey = { ...read.expected, userVerification: true };
  const created = await as.factors.passkeys!.verifyRegistration(read.response, expected);
  if (!created || created.id.length > MAX_CREDENTIAL_ID_CHARACTERS) return undefined;
  if (created.publicKey.length > MAX_PUBLIC_KEY_CHARACTERS) return undefined;
  return await consumeChallenge(as, expected.challenge) ? created : undefined;
}

async function readResponse(
  as: AuthorizationServer,
  request: Request,
  purpose: ChallengePurpose,
  json: string,
): Promise<
  { response: WebAuthnResponse; expected: Omit<ExpectedPasskey, "userVerification"> } | undefined
> {
  const { passkeys } = as.factors;
  const response = passkeys && json.length <= MAX_RESPONSE_CHARACTERS ? parseResponse(json) : undefined;
  if (!response) return undefined;
  const challenge = await findChallenge(as, request, purpose, response.response.clientDataJSON);
  if (challenge === undefined) return undefined;
  const origins = [as.origin, ...passkeys!.origins ?? []];
  return { response, expected: { challenge, origins, rpId: rpIdOf(as) } };
}

function parseResponse(json: string): WebAuthnResponse | undefined {
  let value: { id?: unknown; response?: { clientDataJSON?: unknown } } | null;
  try {
    value = JSON.parse(json);
  } catch {
    return undefined;
  }
  const isResponse = typeof value?.id === "string" && value.id.length <= MAX_CREDENTIAL_ID_CHARACTERS &&
    typeof value.response?.clientDataJSON === "string";
  return isResponse ? value as WebAuthnResponse : undefined;
}

/**
 * Stores the counter and the time. `false` when the counter is not above the stored one: concurrent uses with one counter
 * are those of a copy (section 6.1.1).
 */
function noteUse(as: AuthorizationServer, user: string, id: string, counter: number): Promise<boolean> {
  return retryLostRaces(async () => {
    const entry = await as.store.get<UserFactors>(userFactorsKey(user));
    const passkey = entry?.value.passkeys?.find((each) => each.id === id);
    if (!entry || !passkey) return false;
    if ((counter > 0 || passkey.counter > 0) && counter <= passkey.counter) return false;
    const used: Passkey = { ...passkey, counter, used: as.now() };
    const passkeys = entry.value.passkeys!.map((each) => each.id === id ? used : each);
    const value: UserFactors = { ...entry.value, passkeys };
    const check = [{ key: entry.key, version: entry.version }];
    return await as.store.commit({ check, set: [{ key: entry.key, value }] }) || LOST_RACE;
  });
}
