/**
 * Sessions in which clients got ID tokens. Only tests import this.
 *
 * @module
 */
import { APP_URI, transactionOf } from "../test_server.ts";
import type { TestProvider } from "./test_provider.ts";

/** A login session in which the client "rp" got an ID token. */
export async function signedIn(
  server: TestProvider,
  client_id = "rp",
  client_secret = "secret of rp",
): Promise<{ readonly cookie: string; readonly id_token_hint: string }> {
  const cookie = await server.signIn();
  const page = await server.send(server.authorizePath({ client_id, scope: "openid" }), {
    headers: { cookie },
  });
  const form = { transaction: transactionOf(await page.text()), decision: "approve" };
  const answer = await server.send("/oauth/authorize", { form, headers: { cookie } });
  const code = new URL(answer.headers.get("location")!).searchParams.get("code")!;
  const tokens = await (await server.token({
    client_id,
    client_secret,
    grant_type: "authorization_code",
    code,
    redirect_uri: APP_URI,
  })).json();
  return { cookie, id_token_hint: tokens.id_token as string };
}

export const end = (
  server: TestProvider,
  cookie: string,
  parameters: Record<string, string>,
): Promise<Response> =>
  server.send(`/oauth/logout?${new URLSearchParams(parameters)}`, { headers: { cookie } });

export async function isSignedIn(server: TestProvider, cookie: string): Promise<boolean> {
  const response = await server.send(server.authorizePath({ scope: "openid" }), { headers: { cookie } });
  return !(response.headers.get("location") ?? "").startsWith("/login");
}
