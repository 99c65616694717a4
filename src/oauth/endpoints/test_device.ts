/**
 * Requests of devices and of their users. Only tests import this.
 *
 * @module
 */
import { toClient } from "../clients/client.ts";
import type { Client } from "../records/client_record.ts";
import { type TestServer, transactionOf } from "../test_server.ts";

export const GRANT = "urn:ietf:params:oauth:grant-type:device_code";
export const clients: Client[] = [
  toClient({ id: "tv", name: "Television", grant_types: [GRANT, "refresh_token"] }, 0),
  toClient({ id: "box", grant_types: [GRANT] }, 0),
  toClient({ id: "app", secret: "app secret:&%+", domain: "app.example" }, 0),
];

export interface DeviceResponse {
  readonly device_code: string;
  readonly user_code: string;
  readonly verification_uri: string;
  readonly verification_uri_complete: string;
  readonly expires_in: number;
  readonly interval: number;
}

export const start = async (server: TestServer, form: Record<string, string> = {}): Promise<DeviceResponse> =>
  await (await server.send("/oauth/device_authorization", {
    form: { client_id: "tv", scope: "read", ...form },
  })).json();

export async function poll(
  server: TestServer,
  device_code: string,
  client_id = "tv",
): Promise<[number, string, Record<string, string>]> {
  const response = await server.send("/oauth/token", { form: { grant_type: GRANT, device_code, client_id } });
  const body = await response.json();
  return [response.status, body.error ?? body.token_type, body];
}

/** Submits the user code on the device page. */
export const enterCode = (server: TestServer, cookie: string, user_code: string): Promise<Response> =>
  server.send("/device", { form: { user_code }, headers: { cookie } });

export async function decide(server: TestServer, user_code: string, decision = "approve"): Promise<Response> {
  const cookie = await server.signIn();
  const transaction = transactionOf(await (await enterCode(server, cookie, user_code)).text());
  return await server.send("/device", { form: { transaction, decision }, headers: { cookie } });
}
