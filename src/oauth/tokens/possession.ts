/**
 * The access token of a request, and whether the caller has the key or the certificate to which the token is bound
 * (https://www.rfc-editor.org/rfc/rfc9449#section-7, https://www.rfc-editor.org/rfc/rfc8705#section-3).
 *
 * @module
 */
import { type DpopChallenge, parseBearer, TokenRefusal } from "../../http/bearer.ts";
import type { RequestContext } from "../../http/service.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { readCertificate } from "../clients/read_certificate.ts";
import { OAuthError } from "../error.ts";
import type { Confirmation } from "../records/token_record.ts";
import { acceptedAlgorithms, type ProfiledServer } from "../security_profile.ts";
import { checkDpopProof, type DpopServer } from "./dpop.ts";

const DPOP = /^dpop +([A-Za-z0-9\-._~+/]+=*) *$/i;
/** The parameters of a challenge with the DPoP scheme. */
const challengeOf = (server: ProfiledServer): DpopChallenge => ({ algs: acceptedAlgorithms(server) });

/** The token of a request. */
export interface PresentedToken {
  readonly text: string;
  /** Whether it came with the scheme `DPoP`; else with `Bearer`. */
  readonly isDpop: boolean;
}

/** The token of the `Authorization` field; `undefined` without one. RFC 6750 §3.1: another scheme counts as none. */
export function readPresentedToken(request: Request): PresentedToken | undefined {
  const field = request.headers.get("authorization");
  if (field === null) return undefined;
  const proven = DPOP.exec(field)?.[1];
  const text = proven ?? parseBearer(field);
  return text === undefined ? undefined : { text, isDpop: proven !== undefined };
}

/** The refusal of the token, in the scheme that it came with. */
export function refuseToken(
  { isDpop }: PresentedToken,
  description: string,
  server: ProfiledServer = {},
): TokenRefusal {
  return new TokenRefusal("invalid_token", description, isDpop ? challengeOf(server) : undefined);
}

/** Checks the proof and the certificate that the token needs; the refusal when one is missing or wrong. */
export async function checkPossession(
  server: DpopServer & Pick<AuthorizationServer, "certificateProxy">,
  request: Request,
  context: RequestContext,
  presented: PresentedToken,
  cnf: Confirmation | undefined,
): Promise<TokenRefusal | undefined> {
  // RFC 9449 §7.2: a DPoP-bound token must not be used as a bearer token, nor the other way round.
  if ((cnf?.jkt !== undefined) !== presented.isDpop) {
    return refuseToken(
      presented,
      presented.isDpop
        ? "The access token is not bound to a key. Use the Bearer authorization scheme"
        : "The access token is bound to a key. Use the DPoP authorization scheme",
      server,
    );
  }
  if (cnf?.jkt !== undefined) {
    const refusal = await checkProof(server, request, presented, cnf.jkt);
    if (refusal) return refusal;
  }
  const thumbprint = cnf?.["x5t#S256"];
  if (thumbprint === undefined) return undefined;
  if ((await readCertificate(server, request, context))?.thumbprint !== thumbprint) {
    return refuseToken(presented, "The access token is bound to another client certificate", server);
  }
  return undefined;
}

async function checkProof(
  server: DpopServer,
  request: Request,
  presented: PresentedToken,
  jkt: string,
): Promise<TokenRefusal | undefined> {
  try {
    const proof = await checkDpopProof(server, request, presented.text);
    if (!proof) {
      return new TokenRefusal(
        "invalid_dpop_proof",
        "The DPoP proof is missing. Send one with the access token",
        challengeOf(server),
      );
    }
    return proof.jkt === jkt
      ? undefined
      : refuseToken(presented, "The access token is bound to another key", server);
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    const nonce = error.fields.find(([name]) => name === "dpop-nonce")?.[1];
    const code = error.code === "use_dpop_nonce" ? "use_dpop_nonce" : "invalid_dpop_proof";
    return new TokenRefusal(code, error.message, { ...challengeOf(server), nonce });
  }
}
