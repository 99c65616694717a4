/**
 * Servers that let go what they should refuse: the refusal is made into the answer that a right request would have had.
 *
 * @module
 */
import { at, readForm, TOKEN } from "./message.ts";
import type { Commit, Key } from "../../src/store/store.ts";
import { faultyCommits, type Mutant, type Wrap } from "./mutant.ts";

/** What was refused, and what was asked. */
export interface Refused {
  readonly status: number;
  /** The `error` and `error_description` of the answer, or of its challenge. */
  readonly error: string;
  readonly description: string;
  readonly request: Request;
  readonly form: URLSearchParams;
}

/** Refusals of one path for which `isForgiven` holds become this answer. */
export function forgiving(
  path: string,
  isForgiven: (refused: Refused) => boolean,
  answer: () => Response,
): Wrap {
  return at(path, (next) => async (request) => {
    const form = await readForm(request) ?? new URLSearchParams();
    const given = await next(request.clone() as Request);
    if (given.status < 400) return given;
    const { error, error_description } = await readError(given);
    const refused = { status: given.status, error, description: error_description, request, form };
    return isForgiven(refused) ? answer() : given;
  });
}

/** The answer of a token endpoint that gave one. */
export const tokenGiven = (token_type: string = "Bearer"): Response =>
  Response.json({
    access_token: "a token that should not have been given",
    token_type,
    expires_in: 60,
    issued_token_type: "urn:ietf:params:oauth:token-type:access_token",
  });

export const forgivenTokens = (isForgiven: (refused: Refused) => boolean): Wrap =>
  forgiving(TOKEN, isForgiven, tokenGiven);

/** Records of a kind are never removed, by no change and no time. */
export function keeping(...kinds: readonly string[]): NonNullable<Mutant["store"]> {
  const isKept = ([kind]: Key): boolean => kinds.some((each) => each === kind);
  return faultyCommits(({ remove = [], set = [], ...rest }: Commit) => ({
    ...rest,
    remove: remove.filter((key) => !isKept(key)),
    set: set.map((put) => isKept(put.key) ? { key: put.key, value: put.value } : put),
  }));
}

/** Several faults that are one: each wraps the one before. */
export const both = (...wraps: readonly Wrap[]): Wrap => (next) =>
  wraps.reduce((inner, wrap) => wrap(inner), next);

async function readError(answer: Response): Promise<{ error: string; error_description: string }> {
  const text = await answer.clone().text();
  if (text.startsWith("{")) return { error: "", error_description: "", ...JSON.parse(text) };
  const challenge = answer.headers.get("www-authenticate") ?? "";
  const member = (name: string): string => new RegExp(`\\b${name}="([^"]*)"`).exec(challenge)?.[1] ?? "";
  return { error: member("error"), error_description: member("error_description") };
}
