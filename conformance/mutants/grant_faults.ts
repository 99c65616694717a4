/**
 * Faults that codes and refresh tokens share: the client is not checked, or a second use succeeds.
 *
 * @module
 */
import { onPath, readForm, TOKEN, withForm, withRequestHeaders } from "./http_faults.ts";
import type { Wrap } from "./mutant.ts";
import { CLIENTS, type RegisteredClient, toBasic } from "./registered_clients.ts";

/** Repeats a refused request as every other client. */
export function acceptFromAnyClient(grantType: string): Wrap {
  return onPath(TOKEN, (next) => async (request) => {
    const form = await readForm(request);
    if (form?.get("grant_type") !== grantType) return await next(request);
    let answer = await next(withForm(request, form));
    for (const client of CLIENTS.filter((each) => each.redirect_uri !== undefined)) {
      if (answer.status !== 400) break;
      answer = await next(asClient(client, request, form));
    }
    return answer;
  });
}

function asClient(client: RegisteredClient, request: Request, form: URLSearchParams): Request {
  const other = new URLSearchParams(form);
  other.delete("client_secret");
  other.set("client_id", client.id);
  const authorization = client.secret === undefined ? undefined : toBasic(client);
  return withRequestHeaders(withForm(request, other), { authorization });
}

/** Answers every use of a code or token like the first. */
export function repeatFirstResponse(parameter: "code" | "refresh_token"): Wrap {
  return onPath(TOKEN, (next) => {
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
