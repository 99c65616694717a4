/**
 * Faults that accept what must be refused: they replace a refusal with the response to a valid request.
 *
 * @module
 */
import { onPath, readForm, TOKEN } from "./http_faults.ts";
import type { Commit, Key } from "../../src/store/store.ts";
import { changeCommits, type Mutant, type Wrap } from "./mutant.ts";

/** A refusal and its request. */
export interface Refused {
  readonly status: number;
  /** `error` and `error_description` of the body, or of WWW-Authenticate. */
  readonly error: string;
  readonly description: string;
  readonly request: Request;
  readonly form: URLSearchParams;
}

/** Replaces refusals of one path that match `isAccepted` with a response. */
export function acceptRefused(
  path: string,
  isAccepted: (refused: Refused) => boolean,
  answer: () => Response,
): Wrap {
  return onPath(path, (next) => async (request) => {
    const form = await readForm(request) ?? new URLSearchParams();
    const response = await next(request.clone() as Request);
    if (response.status < 400) return response;
    const { error, error_description } = await readError(response);
    const refused = { status: response.status, error, description: error_description, request, form };
    return isAccepted(refused) ? answer() : response;
  });
}

/** A successful response of the token endpoint. */
export const tokenResponse = (token_type: string = "Bearer"): Response =>
  Response.json({
    access_token: "a token that must not be issued",
    token_type,
    expires_in: 60,
    issued_token_type: "urn:ietf:params:oauth:token-type:access_token",
  });

export const issueRefusedTokens = (isAccepted: (refused: Refused) => boolean): Wrap =>
  acceptRefused(TOKEN, isAccepted, tokenResponse);

/** Never removes records of these kinds, neither by a commit nor by expiry. */
export function neverRemove(...kinds: readonly string[]): NonNullable<Mutant["store"]> {
  const isKept = ([kind]: Key): boolean => kinds.some((each) => each === kind);
  return changeCommits(({ remove = [], set = [], ...rest }: Commit) => ({
    ...rest,
    remove: remove.filter((key) => !isKept(key)),
    set: set.map((put) => isKept(put.key) ? { key: put.key, value: put.value } : put),
  }));
}

/** Combines several faults: each wraps the one before. */
export const combine = (...wraps: readonly Wrap[]): Wrap => (next) =>
  wraps.reduce((inner, wrap) => wrap(inner), next);

async function readError(answer: Response): Promise<{ error: string; error_description: string }> {
  const text = await answer.clone().text();
  if (text.startsWith("{")) return { error: "", error_description: "", ...JSON.parse(text) };
  const challenge = answer.headers.get("www-authenticate") ?? "";
  const member = (name: string): string => new RegExp(`\\b${name}="([^"]*)"`).exec(challenge)?.[1] ?? "";
  return { error: member("error"), error_description: member("error_description") };
}
