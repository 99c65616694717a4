/**
 * Sends requests to the registration endpoints. Only tests import this.
 *
 * @module
 */
import type { TestServer } from "../test_server.ts";

export const WEB: { readonly redirect_uris: readonly string[]; readonly client_name: string } = {
  redirect_uris: ["https://client.example/cb"],
  client_name: "Client",
};

export interface Registered {
  readonly response: Response;
  readonly status: number;
  // deno-lint-ignore no-explicit-any -- the response of the server
  readonly body: any;
}

/** Sends a request. Metadata that is a string is the body as it is; everything else is sent as JSON. */
export async function send(
  server: TestServer,
  method: string,
  path: string,
  metadata?: unknown,
  token?: string,
): Promise<Registered> {
  const response = await server.send(path, {
    method,
    ...(metadata !== undefined &&
      { form: typeof metadata === "string" ? metadata : JSON.stringify(metadata) }),
    headers: {
      ...(metadata !== undefined && { "content-type": "application/json" }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
  });
  const text = await response.text();
  return { response, status: response.status, body: text === "" ? {} : JSON.parse(text) };
}

export const register = (server: TestServer, metadata: unknown, token?: string): Promise<Registered> =>
  send(server, "POST", "/oauth/register", metadata, token);
