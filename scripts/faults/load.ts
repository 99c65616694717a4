/**
 * Concurrent clients that do what real ones do (sign in, consent, redeem, check, refresh, revoke, upload, read, delete),
 * each request to whichever instance comes next, and write down what they heard. What ends without an answer is tried
 * again, as a client would. Long because each method is one thing that a client does.
 *
 * @module
 */
import { addClient } from "../../src/oauth/clients/client.ts";
import { addUser } from "../../src/oauth/users/user.ts";
import { createApiKey } from "../../src/skills/api_key.ts";
import type { Store } from "../../src/store/store.ts";
import { type FinalState, findViolations, History } from "./history.ts";

/** Sends a request to an instance, by path. Rejects when the connection broke. */
export type Send = (instance: number, path: string, init?: RequestInit) => Promise<Response>;

export interface LoadOptions {
  readonly send: Send;
  readonly instances: number;
  /** At most so many; it ends earlier when `until` resolves. */
  readonly rounds: number;
  readonly clients?: number;
  readonly until?: Promise<unknown>;
  /** Milliseconds between two attempts. @default 50 */
  readonly patience?: number;
}

export interface Account {
  readonly client_id: string;
  readonly client_secret: string;
  readonly username: string;
  readonly password: string;
  readonly api_key: string;
}

const REDIRECT_URI = "https://load.example/callback";

/** What the clients sign in with; made in the store, past any instance. */
export async function makeAccount(store: Store): Promise<Account> {
  const name = `load_${Math.random().toString(36).slice(2, 10)}`;
  const { secret } = await addClient(store, { id: name, redirect_uris: [REDIRECT_URI] });
  await addUser(store, { username: name, password: "wonderland" }, 1000);
  const { secret: api_key } = await createApiKey(store, { name });
  return { client_id: name, client_secret: secret!, username: name, password: "wonderland", api_key };
}

/** An instance gave no answer that says how it went. */
class NoAnswer extends Error {}

export class Load {
  readonly history: History = new History();
  /** Answers of 503, all of which must have said when to come back. */
  unavailable = 0;
  /** Anything that no client should ever see. */
  readonly surprises: string[] = [];
  #options: LoadOptions;
  #account: Account;
  #turn = 0;
  #stopped = false;
  #cookie: string | undefined;

  constructor(options: LoadOptions, account: Account) {
    this.#options = options;
    this.#account = account;
  }

  /** Runs all clients to their end. */
  async run(): Promise<void> {
    const { clients = 8, until } = this.#options;
    until?.then(() => this.#stopped = true);
    await Promise.all(Array.from({ length: clients }, (_, client) => this.#runClient(client)));
  }

  /** Every promise broken, once all is quiet. */
  async violations(): Promise<string[]> {
    const final: FinalState = {
      isActive: async (token) => (await this.#introspect(token)).active === true,
      readSkill: (id) => this.#insist(() => this.#readSkill(id)),
    };
    return [...this.surprises, ...await findViolations(this.history, final)];
  }

  async #runClient(client: number): Promise<void> {
    for (let round = 0; round < this.#options.rounds && !this.#stopped; round++) {
      await (round % 3 === 2 ? this.#runSkill(client, round) : this.#runTokens(client, round));
    }
  }

  async #runTokens(client: number, round: number): Promise<void> {
    const code = await this.#insist(() => this.#authorize());
    const redeem = () =>
      this.#record(
        client,
        { type: "redeem", code },
        () => this.#token({ grant_type: "authorization_code", code, redirect_uri: REDIRECT_URI }),
      );
    // Now and then two instances get one code at the same moment.
    const attempts = round % 5 === 4 ? await Promise.all([redeem(), redeem()]) : [await redeem()];
    let heard = attempts.find(({ outcome }) => outcome === "ok")?.heard;
    if (!heard) return;
    const family = code;
    const check = (token: string) =>
      this.#record(
        client,
        { type: "check", family, token },
        async () => ({
          outcome: "ok",
          heard: { active: (await this.#introspect(token, true)).active as boolean },
        }),
      );
    await check(heard.access!);
    for (let i = 0; i < 3; i++) {
      const token: string = heard.refresh!;
      const refresh = () =>
        this.#record(
          client,
          { type: "refresh", family, token },
          () => this.#token({ grant_type: "refresh_token", refresh_token: token }),
        );
      const tried = i === 1 ? await Promise.all([refresh(), refresh(), refresh()]) : [await refresh()];
      let done = tried.find(({ outcome }) => outcome === "ok");
      for (let again = 0; !done && again < 200 && tried.at(-1)!.outcome === "unknown"; again++) {
        await this.#pause();
        tried.push(await refresh());
        done = tried.find(({ outcome }) => outcome === "ok");
      }
      if (!done) return;
      heard = done.heard!;
    }
    if (round % 2 === 1) return;
    const token = heard.refresh!;
    // Somebody rotates while somebody revokes; then everybody asks.
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
    for (let again = 0; revoked.outcome === "unknown" && again < 200; again++) {
      await this.#pause();
      revoked = await revoke();
    }
    for (let instance = 0; instance < this.#options.instances; instance++) await check(heard.access!);
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
    const { outcome, heard } = await this.#record(
      client,
      { type: "publish", name, content },
      () => this.#publish(name, content),
    );
    if (outcome !== "ok") return;
    const id = heard!.id!;
    const read = () =>
      this.#record(client, { type: "read", id }, async () => {
        const found = await this.#readSkill(id);
        return found === undefined ? { outcome: "refused" } : { outcome: "ok", heard: { content: found } };
      });
    await read();
    if (round % 2 === 0) return;
    await this.#record(client, { type: "delete", id }, async () => {
      const response = await this.#send(`/v1/skills/${id}`, { method: "DELETE", headers: this.#key() });
      await response.body?.cancel();
      return { outcome: response.status === 200 ? "ok" : "refused" };
    });
    await read();
  }

  #record(
    client: number,
    asked: Parameters<History["record"]>[2],
    run: Parameters<History["record"]>[3],
  ): ReturnType<History["record"]> {
    return this.history.record(client, this.#turn % this.#options.instances, asked, run);
  }

  /** To the next instance. @throws {NoAnswer} for 503 and for a connection that broke */
  async #send(path: string, init: RequestInit = {}): Promise<Response> {
    const response = await this.#options.send(this.#turn++ % this.#options.instances, path, init)
      .catch((cause) => {
        throw new NoAnswer("The connection broke", { cause });
      });
    if (response.status === 503) {
      this.unavailable++;
      if (!response.headers.has("retry-after")) this.surprises.push(`503 without Retry-After at ${path}`);
    }
    if (response.status >= 500 && response.status !== 503 && response.status !== 502) {
      this.surprises.push(`${response.status} at ${path}: ${(await response.clone().text()).slice(0, 200)}`);
    }
    if (response.status >= 500) {
      await response.body?.cancel();
      throw new NoAnswer(`It answered ${response.status}`);
    }
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

  /** Until there is an answer. */
  async #insist<Result>(work: () => Promise<Result>): Promise<Result> {
    for (let tries = 0;; tries++) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof NoAnswer) || tries > 400) throw error;
        await this.#pause();
      }
    }
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, this.#options.patience ?? 50));
  }

  /** Signs in if nobody has, asks and consents: a code. */
  async #authorize(): Promise<string> {
    const { client_id, username, password } = this.#account;
    if (this.#cookie === undefined) {
      const login = await this.#post("/login", { username, password });
      // Many clients of one account at once are throttled.
      if (login.status === 429) throw new NoAnswer("Too many logins at once");
      this.#cookie = login.headers.get("set-cookie")!.split(";")[0]!;
      await login.body?.cancel();
    }
    const headers = { cookie: this.#cookie };
    const query = new URLSearchParams({
      response_type: "code",
      client_id,
      redirect_uri: REDIRECT_URI,
      scope: "profile",
      // The question and its answer are what faults are tried on.
      prompt: "consent",
    });
    const page = await this.#send(`/oauth/authorize?${query}`, { headers, redirect: "manual" });
    const transaction = /name="transaction" value="([^"]+)"/.exec(await page.text())?.[1];
    if (transaction === undefined) {
      // A session of which nobody knows whether it was stored.
      this.#cookie = undefined;
      throw new NoAnswer("No consent page");
    }
    const answer = await this.#post("/oauth/authorize", { transaction, decision: "approve" }, headers);
    await answer.body?.cancel();
    const code = new URL(answer.headers.get("location") ?? "http://none").searchParams.get("code");
    // A transaction is good once: after an answer that got lost the client begins anew.
    if (code === null) throw new NoAnswer("No code");
    return code;
  }

  async #token(
    form: Record<string, string>,
  ): Promise<Pick<Awaited<ReturnType<History["record"]>>, "outcome" | "heard">> {
    const { client_id, client_secret } = this.#account;
    const response = await this.#post("/oauth/token", { ...form, client_id, client_secret });
    const body = await response.json();
    if (response.status === 200) {
      return { outcome: "ok", heard: { access: body.access_token, refresh: body.refresh_token } };
    }
    if (body.error !== "invalid_grant") this.surprises.push(`the token endpoint: ${JSON.stringify(body)}`);
    return { outcome: "refused" };
  }

  async #revoke(token: string): Promise<{ outcome: "ok" | "refused" }> {
    const { client_id, client_secret } = this.#account;
    const response = await this.#post("/oauth/revoke", { token, client_id, client_secret });
    await response.body?.cancel();
    return { outcome: response.status === 200 ? "ok" : "refused" };
  }

  async #introspect(token: string, once: boolean = false): Promise<Record<string, unknown>> {
    const { client_id, client_secret } = this.#account;
    const ask = async () =>
      await (await this.#post("/oauth/introspect", { token, client_id, client_secret })).json();
    return once ? await ask() : await this.#insist(ask);
  }

  #key(): Record<string, string> {
    return { "x-api-key": this.#account.api_key };
  }

  async #publish(
    name: string,
    content: string,
  ): Promise<{ outcome: "ok" | "refused"; heard?: { id: string } }> {
    const form = new FormData();
    form.append("files[]", new File([content], `${name}/SKILL.md`));
    form.append("files[]", new File(["the same in every skill"], `${name}/LICENSE.txt`));
    const response = await this.#send("/v1/skills", { method: "POST", body: form, headers: this.#key() });
    const body = await response.json();
    if (response.status === 200) return { outcome: "ok", heard: { id: body.id } };
    this.surprises.push(`an upload: ${JSON.stringify(body)}`);
    return { outcome: "refused" };
  }

  /** Its SKILL.md, as the tool server gives it; `undefined` when there is no such skill. */
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
    // A read that meets a deletion half way is a fault of the tool to its caller, and no skill.
    if (!/^Unknown (skill|file)|failed/i.test(text)) throw new Error(text);
    return undefined;
  }
}
