/**
 * A compared server in a child process, and a client that signs in and runs the code flow.
 *
 * @module
 */
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { CLIENT, type Command, SCOPE, USER } from "./child.ts";
import { Connection, type HttpResponse } from "./connection.ts";

export const CONNECTIONS = 16;
const VERIFIER = "a-code-verifier-of-at-least-forty-three-characters";
const CHALLENGE = createHash("sha256").update(VERIFIER).digest("base64url");
const FORM_TYPE = "content-type: application/x-www-form-urlencoded\r\n";
/** Forms are encoded at the start as far as possible, because this process shares the processor with the servers. */
const CREDENTIALS = encodeForm({ client_id: CLIENT.id, client_secret: CLIENT.secret });
const CLIENT_CREDENTIALS = `${encodeForm({ grant_type: "client_credentials", scope: SCOPE })}&${CREDENTIALS}`;
const EXCHANGE = encodeForm({
  grant_type: "authorization_code",
  redirect_uri: CLIENT.redirect_uri,
  code_verifier: VERIFIER,
});

/** A server to compare: the file that runs it, its packages, and the paths of its endpoints. */
export interface Peer {
  readonly name: string;
  readonly file: string;
  readonly packages: readonly string[];
  readonly authorize: string;
  readonly token: string;
  readonly introspect: string;
  /** The scope of authorization requests. @default that of every server */
  readonly scope?: string;
  /** Codes to create for each millisecond of a slice. @default enough for the fastest server */
  readonly codesPerMs?: number;
  /** Operations that are not measured, and why. */
  readonly lacks?: Readonly<Record<string, string>>;
}

export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

export class PeerProcess {
  readonly peer: Peer;
  readonly #child: ChildProcess;
  readonly #port: number;
  /** Connections without a request. */
  readonly #idle: Connection[] = [];
  #cookie = "";

  private constructor(peer: Peer, child: ChildProcess, port: number) {
    this.peer = peer;
    this.#child = child;
    this.#port = port;
  }

  static async start(peer: Peer): Promise<PeerProcess> {
    const file = fileURLToPath(new URL(peer.file, import.meta.url));
    const packages = peer.packages.map((name) => import.meta.resolve(name));
    const args = ["--expose-gc", "--max-old-space-size=12000", "--disable-warning=ExperimentalWarning"];
    const child = spawn(process.execPath, [...args, file, ...packages], {
      stdio: ["ignore", "pipe", "inherit", "ipc"],
    });
    const port = await new Promise<string>((resolve, reject) => {
      createInterface({ input: child.stdout! }).once("line", resolve);
      child.once("exit", (code) => reject(new Error(`The server of ${peer.name} exited with ${code}`)));
    });
    return new PeerProcess(peer, child, Number(port));
  }

  /** The server ends itself, and workerd where it runs on that. */
  stop(): void {
    for (const connection of this.#idle) connection.close();
    this.#child.disconnect();
  }

  /** Makes the server issue this many tokens; resolves to their bytes. */
  fill(count: number): Promise<number> {
    return this.#execute({ fill: count });
  }

  /** Microseconds of processor time that the server has used so far. */
  processorTime(): Promise<number> {
    return this.#execute({ processorTime: true });
  }

  #execute(command: Command): Promise<number> {
    return new Promise((resolve, reject) => {
      const fail = () => reject(new Error(`The server of ${this.peer.name} exited`));
      this.#child.once("exit", fail);
      this.#child.once("message", (response) => {
        this.#child.off("exit", fail);
        resolve(response as number);
      });
      this.#child.send(command);
    });
  }

  /** Sends a `POST`; resolves to the body. @throws {Error} if the status is not 200 */
  async post(path: string, form: string): Promise<string> {
    const { status, body } = await this.#send("POST", path, FORM_TYPE, form);
    if (status !== 200) throw new Error(`${this.peer.name}: ${path}: status ${status}: ${body}`);
    return body;
  }

  clientCredentials(): Promise<string> {
    return this.post(this.peer.token, CLIENT_CREDENTIALS);
  }

  async introspect(token: string): Promise<void> {
    const form = `token=${encodeURIComponent(token)}&${CREDENTIALS}`;
    const body = await this.post(this.peer.introspect, form);
    if (!body.includes('"active":true')) {
      throw new Error(`${this.peer.name}: the token is not active: ${body}`);
    }
  }

  async refresh(refresh_token: string): Promise<string> {
    const token = encodeURIComponent(refresh_token);
    const form = `grant_type=refresh_token&refresh_token=${token}&${CREDENTIALS}`;
    return (JSON.parse(await this.post(this.peer.token, form)) as Tokens).refresh_token;
  }

  async exchange(code: string): Promise<Tokens> {
    const form = `${EXCHANGE}&code=${encodeURIComponent(code)}&${CREDENTIALS}`;
    return JSON.parse(await this.post(this.peer.token, form));
  }

  /** Requests a code. The user is signed in and has consented, so the first response redirects. */
  async authorize(): Promise<string> {
    const { location, status } = await this.#visit(
      "GET",
      this.#authorizationRequest(),
      undefined,
      this.#cookie,
    );
    const code = findCode(location);
    if (code === undefined) {
      throw new Error(`${this.peer.name}: no code: status ${status}, location ${location}`);
    }
    return code;
  }

  /** Signs in like a user: follows redirects, submits forms, consents. */
  async signIn(): Promise<void> {
    const cookies = new Map<string, string>();
    const cookie = () => [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    let step: [method: "GET" | "POST", path: string, form: string | undefined];
    step = ["GET", this.#authorizationRequest(), undefined];
    for (let steps = 0; steps < 20; steps++) {
      const { location, body, setCookies } = await this.#visit(...step, cookie());
      for (const line of setCookies) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
        if (value === "") cookies.delete(name!);
        else cookies.set(name!, value!);
      }
      if (findCode(location) !== undefined) {
        this.#cookie = cookie();
        return;
      }
      if (location !== undefined) step = ["GET", location, undefined];
      else step = ["POST", ...fillForm(step[1], body)];
    }
    throw new Error(`${this.peer.name}: no code after 20 pages`);
  }

  #authorizationRequest(): string {
    const query = new URLSearchParams({
      response_type: "code",
      client_id: CLIENT.id,
      redirect_uri: CLIENT.redirect_uri,
      scope: this.peer.scope ?? SCOPE,
      state: "a-state",
      code_challenge: CHALLENGE,
      code_challenge_method: "S256",
    });
    return `${this.peer.authorize}?${query}`;
  }

  async #visit(method: "GET" | "POST", path: string, form: string | undefined, cookie: string) {
    const { pathname, search } = new URL(path, "http://127.0.0.1");
    const fields = (cookie === "" ? "" : `cookie: ${cookie}\r\n`) + (form === undefined ? "" : FORM_TYPE);
    const { status, head, body } = await this.#send(method, pathname + search, fields, form);
    if (status >= 400) throw new Error(`${this.peer.name}: ${path}: status ${status}: ${body}`);
    const location = /\r\nlocation: *([^\r]+)/i.exec(head)?.[1];
    const setCookies = [...head.matchAll(/\r\nset-cookie: *([^\r]+)/gi)].map(([, line]) => line!);
    return { status, location, body, setCookies };
  }

  async #send(method: "GET" | "POST", path: string, fields: string, body?: string): Promise<HttpResponse> {
    let reused = this.#idle.pop();
    while (reused && !reused.isOpen) reused = this.#idle.pop();
    const connection = reused ?? new Connection(this.#port);
    try {
      const response = await connection.send(method, path, fields, body);
      this.#idle.push(connection);
      return response;
    } catch (error) {
      if (!reused) throw error;
      // The server closed it while it was idle, which this process had not read yet. The others are as old.
      for (const idle of this.#idle.splice(0)) idle.close();
      return await this.#send(method, path, fields, body);
    }
  }
}

function encodeForm(fields: Readonly<Record<string, string>>): string {
  return new URLSearchParams(fields).toString();
}

function findCode(location: string | undefined): string | undefined {
  if (!location?.startsWith(CLIENT.redirect_uri)) return undefined;
  return new URL(location).searchParams.get("code") ?? undefined;
}

/** Fills in the first form of a page; returns its path and body. */
function fillForm(page: string, html: string): [path: string, body: string] {
  const form = /<form[^>]*>[\s\S]*?<\/form>/.exec(html)?.[0];
  if (form === undefined) throw new Error(`No form on ${page}: ${html}`);
  const fields = new URLSearchParams({ decision: "approve" });
  for (const [input] of form.matchAll(/<input[^>]*>/g)) {
    const name = /\bname="([^"]+)"/.exec(input)?.[1];
    const value = unescapeHtml(/\bvalue="([^"]*)"/.exec(input)?.[1] ?? "");
    if (name === undefined) continue;
    fields.set(
      name,
      /^(login|username)$/.test(name) ? USER.username : name === "password" ? USER.password : value,
    );
  }
  const action = unescapeHtml(/\baction="([^"]*)"/.exec(form)?.[1] ?? "");
  return [new URL(action, `http://127.0.0.1${page}`).href, fields.toString()];
}

function unescapeHtml(text: string): string {
  return text.replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&lt;", "<").replaceAll(
    "&amp;",
    "&",
  );
}
