/**
 * The hot paths of a checkout of Trivet, as calls in this process. Only exports and endpoints that previous releases have too
 * are used, except for the function that creates an API key.
 *
 * @module
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const ISSUER = "http://127.0.0.1:8787";
const SKILLS = 100;
const CREDENTIALS = { client_id: "app", client_secret: "secret" };

/** A call of a hot path. @throws {Error} if the response is not the expected one */
export type Call = () => Promise<void>;

/** Creates the calls by their names. @param folder the root of a checkout */
export async function createHotCalls(folder: string): Promise<Map<string, Call>> {
  const load = (file: string) => import(pathToFileURL(join(folder, "src", file)).href);
  const { createTrivet, memoryStore, tool }: typeof import("../../../src/mod.ts") = await load("mod.ts");
  const { createApiKey }: typeof import("../../../src/skills/api_key.ts") = await load("skills/api_key.ts");
  const store = memoryStore();
  const add = tool({
    name: "add",
    description: "Adds two numbers",
    input: {
      type: "object",
      properties: { a: { type: "number" }, b: { type: "number" } },
      required: ["a", "b"],
    },
    run: ({ a, b }) => (a as number) + (b as number),
  });
  const trivet = createTrivet({
    issuer: ISSUER,
    store,
    oauth: {
      clients: [{ id: CREDENTIALS.client_id, secret: CREDENTIALS.client_secret, domain: "app.example" }],
    },
    mcp: { tools: [add] },
  });

  const send = async (path: string, init: RequestInit): Promise<string> => {
    const response = await trivet.fetch(new Request(ISSUER + path, init));
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${path}: status ${response.status}: ${text}`);
    return text;
  };
  const call = (path: string, init: RequestInit, expected: string): Call => async () => {
    const text = await send(path, init);
    if (!text.includes(expected)) throw new Error(`${path}: unexpected response: ${text}`);
  };
  const post = (body: string, type: string): RequestInit => ({
    method: "POST",
    body,
    headers: { "content-type": type, accept: "application/json", "content-length": String(body.length) },
  });
  const form = (fields: Record<string, string>) =>
    post(new URLSearchParams({ ...fields, ...CREDENTIALS }).toString(), "application/x-www-form-urlencoded");
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call" };
  const grant = form({ grant_type: "client_credentials", scope: "read" });
  const { access_token: token } = JSON.parse(await send("/oauth/token", grant));

  const { secret } = await createApiKey(store, { name: "regression" });
  const headers = { "x-api-key": secret };
  for (let i = 0; i < SKILLS; i++) {
    const body = new FormData();
    const markdown = `---\nname: skill-${i}\ndescription: Is listed.\n---\nDo it well.\n`;
    body.append("files[]", new File([markdown], `skill-${i}/SKILL.md`));
    await send("/v1/skills", { method: "POST", body, headers });
  }
  return new Map([
    [
      "MCP tools/call",
      call(
        "/mcp",
        post(
          JSON.stringify({ ...message, params: { name: "add", arguments: { a: 19, b: 23 } } }),
          "application/json",
        ),
        '"42"',
      ),
    ],
    ["token endpoint", call("/oauth/token", grant, '"access_token"')],
    ["introspection", call("/oauth/introspect", form({ token }), '"active":true')],
    ["page of skills", call("/v1/skills", { headers }, '"skill-')],
  ]);
}
