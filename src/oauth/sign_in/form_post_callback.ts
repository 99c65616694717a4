/**
 * `POST /login/:provider/callback`: the answer of a provider that posts it as a form (OAuth 2.0 Form Post Response Mode), as
 * Apple does. The browser sends no cookie with a form of another site (`SameSite=Lax`), so the answer goes on as a GET,
 * with which it sends the one that the sign-in is bound to.
 *
 * @module
 */
import { readForm } from "../../http/body/form.ts";
import { NO_STORE, respond, respondText } from "../../http/response.ts";
import type { AuthorizationServer } from "../authorization_server.ts";

const MAX_FORM_BYTES = 16 * 1024;
/** The parameters that `sign_in.ts` reads. */
const NAMES = ["code", "state", "iss", "error", "user"];
/** Together: servers limit the length of a URL. */
const MAX_CHARACTERS = 6000;

/** 303 to the callback; 400 for a form that is too long or has a parameter twice, 404 for an unknown provider. */
export async function relayFormPost(
  as: AuthorizationServer,
  request: Request,
  id: string,
): Promise<Response> {
  if (!await as.providers.find(id)) return respondText(404, "Not found.");
  const { values, repeated } = await readForm(request, MAX_FORM_BYTES);
  const query = new URLSearchParams(
    NAMES.flatMap((name) => values.has(name) ? [[name, values.get(name)!]] : []),
  ).toString();
  if (repeated.length > 0 || query.length > MAX_CHARACTERS) {
    return respondText(400, "The answer of the provider is too long, or has a parameter twice.");
  }
  return respond(303, null, [["location", `${as.base}/login/${id}/callback?${query}`], NO_STORE]);
}
