/**
 * What OpenID Connect adds to an authorization request
 * (https://openid.net/specs/openid-connect-core-1_0.html#section-3.1.2.1): `nonce`, `claims`, and who must sign in and how.
 *
 * @module
 */
import type { AuthorizationServer } from "../authorization_server.ts";
import type { AuthenticationRequirements } from "../endpoints/authorization_request.ts";
import { OAuthError } from "../error.ts";
import type { Parameters } from "../parameters.ts";
import type { ClaimRequest, OpenIdRequest } from "../records/authorization_record.ts";
import type { Client } from "../records/client_record.ts";
import type { Profile } from "../records/user_record.ts";
import { canonicalUsername } from "../users/user.ts";
import { findClaimScope, parseClaims } from "./claims.ts";
import { readIdToken } from "./id_token.ts";
import { subjectOf } from "./subject.ts";

const MAX_NONCE_CHARACTERS = 512;

export interface AuthenticationRequest {
  /** @param scope the scope to be granted */
  readonly toOpenId: (user: Profile, scope: string) => OpenIdRequest;
  readonly requirements: AuthenticationRequirements;
  /** Whether a user with this id is the one whom the request names by `id_token_hint` or `claims`. */
  readonly isExpectedUser: (user: string) => Promise<boolean>;
  /** Whether `login_hint` is the name or address of someone else. A hint that is neither says nothing. */
  readonly hintsAtOther: (user: Profile) => boolean;
}

/**
 * Reads the request. Defaults of the registration apply where it has no value (OpenID Connect Registration §2).
 * @throws {OAuthError} to be sent to the client
 */
export async function readAuthenticationRequest(
  as: AuthorizationServer,
  client: Client,
  parameters: Parameters,
  given: AuthenticationRequirements,
): Promise<AuthenticationRequest> {
  const nonce = parameters.get("nonce");
  if (nonce !== undefined && nonce.length > MAX_NONCE_CHARACTERS) {
    throw new OAuthError("invalid_request", `nonce must be at most ${MAX_NONCE_CHARACTERS} characters`);
  }
  if (parameters.has("registration")) {
    throw new OAuthError(
      "registration_not_supported",
      "The parameter registration is not supported: register the client first",
    );
  }
  const claims = parseClaims(parameters.get("claims"));
  const subjects = await findSubjects(
    as,
    client,
    parameters.get("id_token_hint"),
    claims?.id_token?.sub?.values,
  );
  const acr_values = given.acr_values ?? acrValuesOf(as, client, claims?.id_token?.acr);
  const login_hint = parameters.get("login_hint");
  const max_age = given.max_age ?? client.default_max_age;
  const prompt = given.prompt.has("select_account") ? new Set([...given.prompt, "login"]) : given.prompt;
  return {
    toOpenId(user, scope) {
      const claim_scope = claims ? findClaimScope(as, client, user, claims, scope) : "";
      return {
        ...(nonce !== undefined && { nonce }),
        ...(claims && { claims }),
        ...(claim_scope !== "" && { claim_scope }),
      };
    },
    requirements: {
      ...given,
      prompt,
      ...(max_age !== undefined && { max_age }),
      ...(acr_values && { acr_values }),
    },
    isExpectedUser: async (user) =>
      subjects === undefined || subjects.includes(await subjectOf(as, client, user)),
    hintsAtOther: (user) => login_hint !== undefined && hintsAtOther(login_hint, user),
  };
}

/**
 * §5.5.1.1: an essential acr that is not met is a failed authentication; a voluntary one is reported as it is. The defaults
 * of the registration count where the request has neither (Registration §2), as far as this server has them: they are wishes.
 */
function acrValuesOf(
  { acrValues }: AuthorizationServer,
  { default_acr_values = [] }: Client,
  requested: ClaimRequest | undefined,
): readonly string[] | undefined {
  if (requested?.values) return requested.essential ? requested.values : undefined;
  const values = default_acr_values.filter((each) => acrValues.includes(each));
  return values.length > 0 ? values : undefined;
}

function hintsAtOther(hint: string, { username, email }: Profile): boolean {
  const known = [username, email || undefined].filter((each) => each !== undefined).map(canonicalUsername);
  // An address says nothing about a user whose address is not known.
  if (known.length === 0 || hint.includes("@") && email === "") return false;
  return !known.includes(canonicalUsername(hint));
}

/** The subjects that may sign in; `undefined` when the request names none. */
async function findSubjects(
  as: AuthorizationServer,
  client: Client,
  hint: string | undefined,
  requested: readonly string[] | undefined,
): Promise<readonly string[] | undefined> {
  if (hint === undefined) return requested;
  const sub = (await readIdToken(as, hint, client))?.sub;
  if (sub === undefined) {
    throw new OAuthError(
      "invalid_request",
      "id_token_hint is not an ID token that this server issued to the client",
    );
  }
  return requested === undefined || requested.includes(sub) ? [sub] : [];
}
