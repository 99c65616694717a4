/**
 * Runs every flow of a user, a client and an agent, step by step, at one address, and records which instance responded to
 * each step and whether the response was correct. Long because each step needs results of the steps before it.
 *
 * @module
 */
import type { Account } from "../faults/load.ts";

export interface Step {
  readonly name: string;
  readonly status: number;
  readonly instance: string;
  /** Undefined if the response was correct. */
  readonly problem: string | undefined;
}

const REDIRECT_URI = "https://load.example/callback";

/** Runs all flows once, in order. Stops after a step with a problem. */
export async function runFlows(base: string, account: Account): Promise<Step[]> {
  const steps: Step[] = [];
  let cookie = "";

  async function step<Result>(
    name: string,
    path: string,
    init: RequestInit,
    read: (response: Response, text: string) => Result,
  ): Promise<Result> {
    const response = await fetch(base + path, { redirect: "manual", ...init });
    const text = await response.text();
    const instance = response.headers.get("x-instance") ?? "?";
    try {
      const result = read(response, text);
      steps.push({ name, status: response.status, instance, problem: undefined });
      return result;
    } catch (error) {
      const problem = `${(error as Error).message}: ${text.slice(0, 300)}`;
      steps.push({ name, status: response.status, instance, problem });
      throw error;
    }
  }

  const form = (fields: Record<string, string>): RequestInit => ({
    method: "POST",
    body: new URLSearchParams(fields),
    headers: cookie === "" ? {} : { cookie },
  });
  const { client_id, client_secret, username, password, api_key } = account;
  const credentials = { client_id, client_secret };
  const bearer = (token: string): RequestInit => ({ headers: { authorization: `Bearer ${token}` } });
  const key = { "x-api-key": api_key };
  const rpc = (method: string, params: unknown, isNotification: boolean = false): RequestInit => ({
    method: "POST",
    headers: { ...key, "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({ jsonrpc: "2.0", ...(!isNotification && { id: 1 }), method, params }),
  });

  try {
    // Permission.
    const query = `?${new URLSearchParams({
      response_type: "code",
      client_id,
      redirect_uri: REDIRECT_URI,
      scope: "profile",
      state: "s",
    })}`;
    const toLogin = await step(
      "authorization request, signed out",
      `/oauth/authorize${query}`,
      {},
      (response) => {
        expect(
          response.status === 302 && response.headers.get("location")!.startsWith("/login?redirect="),
          "does not redirect to login",
        );
        return response.headers.get("location")!;
      },
    );
    await step(
      "login page",
      toLogin,
      {},
      (response) => expect(response.status === 200, "does not show the login page"),
    );
    cookie = await step("login", toLogin, form({ username, password }), (response) => {
      expect(
        response.status === 302 && response.headers.get("location") === `/oauth/authorize${query}`,
        "not signed in",
      );
      return response.headers.get("set-cookie")!.split(";")[0]!;
    });
    const transaction = await step(
      "consent page",
      `/oauth/authorize${query}`,
      { headers: { cookie } },
      (_, text) => {
        const found = /name="transaction" value="([^"]+)"/.exec(text)?.[1];
        expect(found !== undefined, "the consent page has no transaction token");
        return found!;
      },
    );
    const code = await step(
      "consent",
      "/oauth/authorize",
      form({ transaction, decision: "approve" }),
      (response) => {
        const found = new URL(response.headers.get("location") ?? "http://none").searchParams.get("code");
        expect(found !== null, "no code");
        return found!;
      },
    );
    await step(
      "the same consent again",
      "/oauth/authorize",
      form({ transaction, decision: "approve" }),
      (response) => {
        expect(response.status === 400, "accepts a transaction token twice");
      },
    );
    const redeem = form({
      grant_type: "authorization_code",
      code,
      redirect_uri: REDIRECT_URI,
      ...credentials,
    });
    const first = await step("code for tokens", "/oauth/token", redeem, readTokens);
    await step("user info", "/api/user", bearer(first.access_token), (response, text) => {
      expect(response.status === 200 && JSON.parse(text).name === username, "is not the user");
    });
    const second = await step(
      "refresh",
      "/oauth/token",
      form({ grant_type: "refresh_token", refresh_token: first.refresh_token, ...credentials }),
      readTokens,
    );
    const repeated = await step(
      "the same refresh again: the same tokens",
      "/oauth/token",
      form({ grant_type: "refresh_token", refresh_token: first.refresh_token, ...credentials }),
      readTokens,
    );
    expect(
      repeated.refresh_token === second.refresh_token,
      "a refresh token was rotated to two different tokens",
    );
    const active = (expected: boolean) => (_: Response, text: string) =>
      expect(JSON.parse(text).active === expected, `active is not ${expected}`);
    await step(
      "introspection",
      "/oauth/introspect",
      form({ token: second.access_token, ...credentials }),
      active(true),
    );
    await step(
      "revocation",
      "/oauth/revoke",
      form({ token: second.refresh_token, ...credentials }),
      (response) => {
        expect(response.status === 200, "not revoked");
      },
    );
    for (const name of ["first", "second", "third"]) {
      await step(
        `user info after revocation, ${name} request`,
        "/api/user",
        bearer(second.access_token),
        (response) => {
          expect(response.status === 401, "accepts a revoked token");
        },
      );
    }
    await step(
      "introspection after revocation",
      "/oauth/introspect",
      form({ token: first.access_token, ...credentials }),
      active(false),
    );
    const keys = [];
    for (const name of ["first", "second", "third"]) {
      keys.push(await step(`signing keys, ${name} request`, "/.well-known/jwks.json", {}, (_, text) => text));
    }
    expect(new Set(keys).size === 1, "instances have different signing keys");

    // Know-how.
    const ids: string[] = [];
    for (const name of ["alpha", "beta", "gamma"]) {
      const body = new FormData();
      body.append(
        "files[]",
        new File(
          [`---\nname: ${name}-${client_id.slice(5)}\ndescription: A skill.\n---\n# ${name}\n`],
          "SKILL.md",
        ),
      );
      body.append("files[]", new File([`the notes of ${name}`], "notes.txt"));
      ids.push(
        await step(
          `upload of ${name}`,
          "/v1/skills",
          { method: "POST", body, headers: key },
          (response, text) => {
            expect(response.status === 200, "not uploaded");
            return JSON.parse(text).id as string;
          },
        ),
      );
    }
    const seen: string[] = [];
    for (let page: string | null = "";;) {
      const found: { data: { id: string }[]; next_page: string | null } = await step(
        `list of skills${page === "" ? "" : ", with the cursor of another instance"}`,
        `/v1/skills?limit=1&source=custom${page && `&page=${encodeURIComponent(page)}`}`,
        { headers: key },
        (_, text) => JSON.parse(text),
      );
      seen.push(...found.data.map((skill) => skill.id));
      page = found.next_page;
      if (page === null || ids.every((id) => seen.includes(id))) break;
    }
    expect(ids.every((id) => seen.includes(id)), "a skill is missing in the list");
    await step(
      "retrieval of a skill",
      `/v1/skills/${ids[0]}`,
      { headers: key },
      (response) => expect(response.status === 200, "not found"),
    );

    // Tools.
    await step(
      "initialize",
      "/mcp",
      rpc("initialize", {
        protocolVersion: "2025-06-18",
        capabilities: {},
        clientInfo: { name: "flows", version: "1" },
      }),
      (_, text) => {
        expect(JSON.parse(text).result.protocolVersion === "2025-06-18", "no handshake");
      },
    );
    await step(
      "initialized",
      "/mcp",
      rpc("notifications/initialized", undefined, true),
      (response) => expect(response.status === 202, "not accepted"),
    );
    await step("list of tools", "/mcp", rpc("tools/list", {}), (_, text) => {
      expect(JSON.parse(text).result.tools.length > 0, "no tools");
    });
    await step(
      "tool call: load a skill",
      "/mcp",
      rpc("tools/call", { name: "load_skill", arguments: { name: ids[1] } }),
      (_, text) => {
        expect(
          JSON.parse(text).result.content[0].text.includes("# beta"),
          "does not return the instructions",
        );
      },
    );
    await step(
      "tool call: read a file of the skill",
      "/mcp",
      rpc("tools/call", { name: "read_skill_file", arguments: { name: ids[1], path: "notes.txt" } }),
      (_, text) => {
        expect(text.includes("the notes of beta"), "does not return the file");
      },
    );
    for (const id of ids) {
      await step(
        "deletion of a skill",
        `/v1/skills/${id}`,
        { method: "DELETE", headers: key },
        (response) => expect(response.status === 200, "not deleted"),
      );
    }
    await step(
      "retrieval after deletion",
      `/v1/skills/${ids[0]}`,
      { headers: key },
      (response) => expect(response.status === 404, "returns a deleted skill"),
    );
    await step(
      "logout",
      "/logout",
      form({}),
      (response) => expect(response.status === 200, "not signed out"),
    );
    await step(
      "the session after logout",
      `/oauth/authorize${query}`,
      { headers: { cookie } },
      (response) => {
        expect(
          response.headers.get("location")?.startsWith("/login") === true,
          "accepts a session after logout",
        );
      },
    );
  } catch (error) {
    if (steps.at(-1)?.problem === undefined) {
      steps.push({ name: "between steps", status: 0, instance: "", problem: (error as Error).message });
    }
  }
  return steps;
}

function readTokens(response: Response, text: string): { access_token: string; refresh_token: string } {
  expect(response.status === 200, "no tokens");
  return JSON.parse(text);
}

function expect(condition: boolean, problem: string): void {
  if (!condition) throw new Error(problem);
}
