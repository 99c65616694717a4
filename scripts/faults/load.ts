/**
 * Runs concurrent clients that behave like real ones (sign in, consent, redeem, check, refresh, revoke, upload, read,
 * delete), send each request to the next instance, retry requests without a response, and record the results.
 * Long because each method is one action of a client.
 *
 * @module
 */
import { addClient } from "../../src/oauth/clients/client.ts";
import { addUser } from "../../src/oauth/users/user.ts";
import { createApiKey } from "../../src/skills/api_key.ts";
import type { Store } from "../../src/store/store.ts";
import { type FinalState, findViolations, History, type Violation } from "./history.ts";

/** Sends a request to an instance. Rejects if the connection fails. */
export type Send = (instance: number, path: string, init?: RequestInit) => Promise<Response>;

export interface LoadOptions {
  readonly send: Send;
  readonly instances: number;
  /** The maximum for each client; the run ends earlier when `until` resolves. */
  readonly rounds: number;
  readonly clients?: number;
  readonly until?: Promise<unknown>;
  /** Time between two attempts. @default 50 */
  readonly retryDelayMs?: number;
}

export interface Account {
  readonly client_id: string;
  readonly client_secret: string;
  readonly username: string;
  readonly password: string;
  readonly api_key: string;
}

const REDIRECT_URI = "https://load.example/callback";

/** Creates a client, a user and an API key directly in the store. */
export async function createAccount(store: Store): Promise<Account> {
  const name = `load_${Math.random().toString(36).slice(2, 10)}`;
  const { secret } = await addClient(store, { id: name, redirect_uris: [REDIRECT_URI] });
  await addUser(store, { username: name, password: "wonderland" }, 1000);
  const { secret: api_key } = await createApiKey(store, { name });
  return { client_id: name, client_secret: secret!, username: name, password: "wonderland", api_key };
}

/** The outcome of a request is unknown: an instance sent a 5xx status or no response. */
class UnknownOutcome extends Error {}

export class Load {
  readonly history: History = new History();
  /** The number of responses with 503, each of which must have `Retry-After`. */
  unavailable = 0;
  /** Responses that no client should ever receive. */
  readonly unexpected: Violation[] = [];
  #options: LoadOptions;
  #account: Account;
  #turn = 0;
  #stopped = false;
  #cookie: string | undefined;

  constructor(options: LoadOptions, account: Account) {
    this.#options = options;
    this.#account = account;
  }

  /** Runs all clients until they are done. */
  async run(): Promise<void> {
    const { clients = 8, until } = this.#options;
    until?.then(() => this.#stopped = true);
    await Promise.all(Array.from({ length: clients }, (_, client) => this.#runClient(client)));
  }

  /** Finds all violations, after the run. */
  async findViolations(): Promise<Violation[]> {
    const final: FinalState = {
      isActive: async (token) => (await this.#introspect(token)).active === true,
      readSkill: (id) => this.#retry(() => this.#readSkill(id)),
    };
    return [...this.unexpected, ...await findViolations(this.history, final)];
  }

  async #runClient(client: number): Promise<void> {
    for (let round = 0; round < this.#options.rounds && !this.#stopped; round++) {
      await (round % 3 === 2 ? this.#runSkill(client, round) : this.#runTokens(client, round));
    }
  }

  async #runTokens(client: number, round: number): Promise<void> {
    const code = await this.#retry(() => this.#authorize());
    const redeem = () =>
      this.#record(
        client,
        { type: "redeem", code },
        () => this.#token({ grant_type: "authorization_code", code, redirect_uri: REDIRECT_URI }),
      );
    // Sometimes two instances get the same code at the same time.
    const attempts = round % 5 === 4 ? await Promise.all([redeem(), redeem()]) : [await redeem()];
    let result = attempts.find(({ outcome }) => outcome === "ok")?.result;
    if (!result) return;
    const family = code;
    const check = (token: string) =>
      this.#record(
        client,
        { type: "check", family, token },
        async () => ({
          outcome: "ok",
          result: { active: (await this.#introspect(token, true)).active as boolean },
        }),
      );
    await check(result.access!);
    for (let i = 0; i < 3; i++) {
      const token: string = result.refresh!;
      const refresh = () =>
        this.#record(
          client,
          { type: "refresh", family, token },
          () => this.#token({ grant_type: "refresh_token", refresh_token: token }),
        );
      const tried = i === 1 ? await Promise.all([refresh(), refresh(), refresh()]) : [await refresh()];
      let done = tried.find(({ outcome }) => outcome === "ok");
      for (let attempt = 0; !done && attempt < 200 && tried.at(-1)!.outcome === "unknown"; attempt++) {
        await this.#pause();
        tried.push(await refresh());
        done = tried.find(({ outcome }) => outcome === "ok");
      }
      if (!done) return;
      result = done.result!;
    }
    if (round % 2 === 1) return;
    const token = result.refresh!;
    // One client revokes while another one rotates; then every instance is asked.
    const revoke = () => this.#record(client, { type: "revoke", family, token }, () => this.#revoke(token));
    let [revoked] = await Promise.all([
      revoke(),
      round % 4 === 2
        ? this.#record(
          client,
          { type: "refresh", family, token },
          () => this.#token({ grant_type: "refresh_token", refresh_token: token }),
        )
        : undefined,
    ]);
    for (let attempt = 0; revoked.outcome === "unknown" && attempt < 200; attempt++) {
      await this.#pause();
      revoked = await revoke();
    }
    for (let instance = 0; instance < this.#options.instances; instance++) await check(result.access!);
    await this.#record(
      client,
      { type: "refresh", family, token },
      () => this.#token({ grant_type: "refresh_token", refresh_token: token }),
    );
  }

  async #runSkill(client: number, round: number): Promise<void> {
    const name = `skill-${client}-${round}`;
    const body = `# ${name}\n\n${"lorem ipsum ".repeat(50 * (round % 7))}\n`;
    const content = `---\nname: ${name}\ndescription: A skill of the load test.\n---\n${body}`;
    const { outcome, result } = await this.#record(
      client,
      { type: "publish", name, content },
      () => this.#publish(name, content),
    );
    if (outcome !== "ok") return;
    const id = result!.id!;
    const read = () =>
      this.#record(client, { type: "read", id }, async () => {
        const found = await this.#readSkill(id);
        return found === undefined ? { outcome: "refused" } : { outcome: "ok", result: { content: found } };
      });
    await read();
    if (round % 2 === 0) return;
    await this.#record(client, { type: "delete", id }, async () => {
      const response = await this.#send(`/v1/skills/${id}`, { method: "DELETE", headers: this.#key() });
      return { outcome: response.status === 200 ? "ok" : "refused" };
    });
    await read();
  }

  #record(
    client: number,
    call: Parameters<History["record"]>[2],
    run: Parameters<History["record"]>[3],
  ): ReturnType<History["record"]> {
    return this.history.record(client, this.#turn % this.#options.instances, call, run);
  }

  /**
   * Sends a request to the next instance and reads the whole response, since an instance may die while it sends it.
   *
   * @throws {UnknownOutcome} for a 5xx status or a failed connection
   */
  async #send(path: string, init: RequestInit = {}): Promise<Response> {
    const response = await this.#options.send(this.#turn++ % this.#options.instances, path, init)
      .then(async (response) => new Response(await response.text() || null, response))
      .catch((cause) => {
        throw new UnknownOutcome("The connection failed", { cause });
      });
    if (response.status === 503) {
      this.unavailable++;
      if (!response.headers.has("retry-after")) this.#reportUnexpected(`503 without Retry-After at ${path}`);
    }
    if (response.status >= 500 && response.status !== 503 && response.status !== 502) {
      this.#reportUnexpected(
        `${response.status} at ${path}: ${(await response.text()).slice(0, 200)}`,
      );
    }
    if (response.status >= 500) throw new UnknownOutcome(`Status ${response.status}`);
    return response;
  }

  #post(
    path: string,
    fields: Record<string, string>,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    return this.#send(path, {
      method: "POST",
      body: new URLSearchParams(fields),
      headers,
      redirect: "manual",
    });
  }

  /** Retries until the outcome is known. */
  async #retry<Result>(work: () => Promise<Result>): Promise<Result> {
    for (let tries = 0;; tries++) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof UnknownOutcome) || tries > 400) throw error;
        await this.#pause();
      }
    }
  }

  #reportUnexpected(message: string): void {
    this.unexpected.push({ code: "unexpected_response", message });
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, this.#options.retryDelayMs ?? 50));
  }

  /** Signs in if there is no session, requests authorization and consents; resolves to the code. */
  async #authorize(): Promise<string> {
    const { client_id, username, password } = this.#account;
    if (this.#cookie === undefined) {
      const login = await this.#post("/login", { username, password });
      // Concurrent logins to one account are throttled.
      if (login.status === 429) throw new UnknownOutcome("Too many logins at once");
      this.#cookie = login.headers.get("set-cookie")!.split(";")[0]!;
    }
    const headers = { cookie: this.#cookie };
    const query = new URLSearchParams({
      response_type: "code",
      client_id,
      redirect_uri: REDIRECT_URI,
      scope: "profile",
      // Faults must also hit the consent page and its submission.
      prompt: "consent",
    });
    const page = await this.#send(`/oauth/authorize?${query}`, { headers, redirect: "manual" });
    const transaction = /name="transaction" value="([^"]+)"/.exec(await page.text())?.[1];
    if (transaction === undefined) {
      // The session may not have been stored.
      this.#cookie = undefined;
      throw new UnknownOutcome("No consent page");
    }
    const response = await this.#post("/oauth/authorize", { transaction, decision: "approve" }, headers);
    const code = new URL(response.headers.get("location") ?? "http://none").searchParams.get("code");
    // A transaction works once: after a lost response the client starts again.
    if (code === null) throw new UnknownOutcome("No code");
    return code;
  }

  async #token(
    form: Record<string, string>,
  ): Promise<Pick<Awaited<ReturnType<History["record"]>>, "outcome" | "result">> {
    const { client_id, client_secret } = this.#account;
    const response = await this.#post("/oauth/token", { ...form, client_id, client_secret });
    const body = await response.json();
    if (response.status === 200) {
      return { outcome: "ok", result: { access: body.access_token, refresh: body.refresh_token } };
    }
    if (body.error !== "invalid_grant") this.#reportUnexpected(`the token endpoint: ${JSON.stringify(body)}`);
    return { outcome: "refused" };
  }

  async #revoke(token: string): Promise<{ outcome: "ok" | "refused" }> {
    const { client_id, client_secret } = this.#account;
    const response = await this.#post("/oauth/revoke", { token, client_id, client_secret });
    return { outcome: response.status === 200 ? "ok" : "refused" };
  }

  async #introspect(token: string, once: boolean = false): Promise<Record<string, unknown>> {
    const { client_id, client_secret } = this.#account;
    const introspect = async () =>
      await (await this.#post("/oauth/introspect", { token, client_id, client_secret })).json();
    return once ? await introspect() : await this.#retry(introspect);
  }

  #key(): Record<string, string> {
    return { "x-api-key": this.#account.api_key };
  }

  async #publish(
    name: string,
    content: string,
  ): Promise<{ outcome: "ok" | "refused"; result?: { id: string } }> {
    const form = new FormData();
    form.append("files[]", new File([content], `${name}/SKILL.md`));
    form.append("files[]", new File(["the same in every skill"], `${name}/LICENSE.txt`));
    const response = await this.#send("/v1/skills", { method: "POST", body: form, headers: this.#key() });
    const body = await response.json();
    if (response.status === 200) return { outcome: "ok", result: { id: body.id } };
    this.#reportUnexpected(`an upload: ${JSON.stringify(body)}`);
    return { outcome: "refused" };
  }

  /** Reads SKILL.md from the tool server; `undefined` if the skill does not exist. */
  async #readSkill(id: string): Promise<string | undefined> {
    const response = await this.#send("/mcp", {
      method: "POST",
      headers: { ...this.#key(), "content-type": "application/json" },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "read_skill_file", arguments: { name: id, path: "SKILL.md" } },
      }),
    });
    const { result, error } = await response.json();
    if (error) throw new Error(JSON.stringify(error));
    if (!result.isError) return result.content[0].resource?.text ?? result.content[0].text;
    const { text } = result.content[0];
    // A read during the deletion is a tool error, and means that the skill does not exist.
    if (!/^Unknown (skill|file)|failed/i.test(text)) throw new Error(text);
    return undefined;
  }
}
