/**
 * Faults that codes and refresh tokens share: whose they are, and what comes of them the second time.
 *
 * @module
 */
import { at, readForm, TOKEN, withForm, withRequestFields } from "./message.ts";
import type { Wrap } from "./mutant.ts";
import { basic, CLIENTS, type Known } from "./registered.ts";

/** What is refused one client is tried in the name of all the others. */
export function forAnyone(grantType: string): Wrap {
  return at(TOKEN, (next) => async (request) => {
    const form = await readForm(request);
    if (form?.get("grant_type") !== grantType) return await next(request);
    let answer = await next(withForm(request, form));
    for (const client of CLIENTS.filter((each) => each.redirect_uri !== undefined)) {
      if (answer.status !== 400) break;
      answer = await next(inTheNameOf(client, request, form));
    }
    return answer;
  });
}

function inTheNameOf(client: Known, request: Request, form: URLSearchParams): Request {
  const other = new URLSearchParams(form);
  other.delete("client_secret");
  other.set("client_id", client.id);
  const authorization = client.secret === undefined ? undefined : basic(client);
  return withRequestFields(withForm(request, other), { authorization });
}

/** The first answer to a code or token is every answer to it. */
export function remembered(parameter: "code" | "refresh_token"): Wrap {
  return at(TOKEN, (next) => {
    const answers = new Map<string, Response>();
    return async (request) => {
      const secret = (await readForm(request))?.get(parameter);
      if (!secret) return await next(request);
      const answer = answers.get(secret) ?? await next(request);
      if (answer.status === 200) answers.set(secret, answer.clone() as Response);
      return answer;
    };
  });
}
