/**
 * Sends requests to the account pages as a browser with one cookie. Only tests import this.
 *
 * @module
 */
import type { TestServer } from "../test_server.ts";

/** The fields of a form that changes alice's password. */
export const PASSWORD: { password: string; new_password: string; new_password_again: string } = {
  password: "wonderland",
  new_password: "down the hole 7",
  new_password_again: "down the hole 7",
};

export function cookieOf(response: Response): string {
  return response.headers.getSetCookie().map((field) => field.split(";")[0]!).join("; ");
}

export async function signIn(server: TestServer, username: string, password: string): Promise<string> {
  return cookieOf(await server.send("/login", { form: { username, password } }));
}

export async function get(server: TestServer, path: string, cookie: string): Promise<Response> {
  return await server.send(path, { headers: { cookie, accept: "text/html" } });
}

export async function post(
  server: TestServer,
  path: string,
  cookie: string,
  form: Record<string, string>,
): Promise<Response> {
  return await server.send(path, { form, headers: { cookie, accept: "text/html" } });
}

/** The status of a redirect and where it leads. */
export function locationOf(response: Response): [number, string | null] {
  const location = response.headers.get("location");
  // What was done is bound to the session.
  return [response.status, location?.replace(/(\?done=\w+)\.[\w-]{16}$/, "$1") ?? null];
}
