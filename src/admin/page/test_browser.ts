/**
 * For tests: as much of a browser as the script of the page needs.
 *
 * @module
 */
import { DESCRIPTION_SCRIPT } from "./description_script.ts";
import { FORM_SCRIPT } from "./form_script.ts";
import { SESSION_SCRIPT } from "./session_script.ts";
import { VIEW_SCRIPT } from "./view_script.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** An element, as far as the script uses it. */
export class FakeElement {
  readonly tagName: string;
  readonly attributes: Map<string, string> = new Map();
  readonly children: (FakeElement | string)[] = [];
  readonly dataset: Record<string, string> = {};
  readonly listeners: Map<string, (event: object) => unknown> = new Map();
  disabled = false;
  hidden = false;
  #value: string | undefined;
  #parent: FakeElement | undefined;

  constructor(name: string) {
    this.tagName = name.toUpperCase();
  }

  setAttribute(name: string, value: unknown): void {
    this.attributes.set(name, String(value));
  }

  addEventListener(type: string, listener: (event: object) => unknown): void {
    this.listeners.set(type, listener);
  }

  removeAttribute(name: string): void {
    this.attributes.delete(name);
  }

  append(...children: unknown[]): void {
    this.children.push(...children.map((each) => each instanceof FakeElement ? each : String(each)));
    for (const child of this.children) if (child instanceof FakeElement) child.#parent = this;
  }

  replaceChildren(...children: unknown[]): void {
    this.children.length = 0;
    this.append(...children);
  }

  remove(): void {
    const { children } = this.#parent ?? this;
    children.splice(children.indexOf(this), children.includes(this) ? 1 : 0);
  }

  get hash(): string {
    return this.attributes.get("href") ?? "";
  }

  click(): unknown {
    return this.listeners.get("click")!({ stopPropagation() {} });
  }

  get textContent(): string {
    return this.children.map((each) => typeof each === "string" ? each : each.textContent).join("");
  }

  set textContent(text: string) {
    this.children.splice(0, Infinity, text);
  }

  /** Until it is set, what the element begins with, as browsers have it. */
  get value(): string {
    if (this.#value !== undefined) return this.#value;
    if (this.tagName === "TEXTAREA") return this.textContent;
    if (this.tagName !== "SELECT") return this.attributes.get("value") ?? "";
    const options = this.all().filter(({ tagName }) => tagName === "OPTION");
    return (options.find(({ attributes }) => attributes.has("selected")) ?? options[0])!.value;
  }

  set value(value: string) {
    this.#value = value;
  }

  querySelector(name: string): FakeElement | undefined {
    return this.all().find(({ tagName }) => tagName === name.toUpperCase());
  }

  querySelectorAll(): FakeElement[] {
    return this.all().filter(({ attributes }) => attributes.has("checked"));
  }

  /** The elements below it. */
  all(): FakeElement[] {
    return this.children.flatMap((each) => typeof each === "string" ? [] : [each, ...each.all()]);
  }

  showModal(): void {}
  focus(): void {}
  close(): void {
    this.listeners.get("close")?.({});
  }
}

/** The form of an operation of the description, filled with the present value. */
export interface FakeForm {
  readonly controls: ReadonlyMap<string, FakeElement>;
  /** Resolves to what the form sends. */
  submit(): Promise<Record<string, unknown>>;
}

/** Runs the scripts of forms and of the description. @param names what they define and the test needs */
export function runScript(names: string, document: unknown = undefined): Any {
  const script = `class ApiError extends Error {}\n${FORM_SCRIPT}${DESCRIPTION_SCRIPT}return { ${names} };`;
  return new Function("document", script)(document);
}

/** Opens the form of an operation. */
export function openForm(description: unknown, id: string, present?: object): FakeForm {
  const body = new FakeElement("body");
  const document = { body, createElement: (name: string) => new FakeElement(name) };
  const { showForm, readDescription }: Any = runScript("showForm, readDescription", document);
  const operation = readDescription(description).find((each: Any) => each.id === id);
  let sent: Record<string, unknown> = {};
  void showForm({
    title: id,
    properties: operation.properties,
    required: operation.required,
    present,
    action: id,
    send: (input: Record<string, unknown>) => Promise.resolve(sent = input),
  });
  const all = body.all();
  const form = all.find(({ tagName }) => tagName === "FORM")!;
  return {
    controls: new Map(all.flatMap((each) => {
      const name = each.attributes.get("name");
      return name === undefined ? [] : [[name, each]];
    })),
    async submit() {
      await form.listeners.get("submit")!({ preventDefault() {} });
      return sent;
    },
  };
}

/** The page of an administrator who is signed in. */
export interface FakePage {
  readonly main: FakeElement;
  /** The first element of `main` with this text. */
  find(name: string, text: string): FakeElement | undefined;
  /** Resolves when the page shows what the fragment names. */
  show(fragment: string): Promise<void>;
}

/** Runs all scripts of the page. @param send answers its requests to the API */
export async function openPage(send: (request: Request) => Promise<Response>): Promise<FakePage> {
  const parts = new Map(["main", "nav", "footer"].map((name) => [name, new FakeElement(name)]));
  const body = new FakeElement("body");
  const place = "https://trivet.example";
  body.dataset["settings"] = JSON.stringify({
    issuer: place,
    place,
    client: "c",
    resource: `${place}/admin`,
  });
  const pending = JSON.stringify({ verifier: "v", state: "s", hash: "" });
  const kept = new Map([["trivet-admin-sign-in", pending]]);
  const listeners = new Map<string, () => Promise<void>>();
  const globals: Any = {
    document: {
      body,
      createElement: (name: string) => new FakeElement(name),
      querySelector: (name: string) => parts.get(name),
    },
    location: { hash: "", search: "?" + new URLSearchParams({ state: "s", iss: place, code: "c" }) },
    history: { replaceState() {} },
    sessionStorage: {
      getItem: (name: string) => kept.get(name) ?? null,
      setItem: (name: string, value: string) => void kept.set(name, value),
      removeItem: (name: string) => void kept.delete(name),
    },
    addEventListener: (type: string, listener: () => Promise<void>) => void listeners.set(type, listener),
    fetch: (url: string, init?: RequestInit) =>
      url.endsWith("/oauth/token")
        ? Promise.resolve(Response.json({ access_token: "t", scope: "admin" }))
        : send(new Request(url, init)),
    setTimeout() {},
  };
  const started = VIEW_SCRIPT.replace(/^start\(\)/m, "return start()");
  await new Function(
    ...Object.keys(globals),
    SESSION_SCRIPT + FORM_SCRIPT + DESCRIPTION_SCRIPT + started,
  )(...Object.values(globals));
  const main = parts.get("main")!;
  return {
    main,
    find: (name, text) =>
      main.all().find((each) => each.tagName === name.toUpperCase() && each.textContent === text),
    async show(fragment) {
      globals.location.hash = fragment;
      await listeners.get("hashchange")!();
    },
  };
}
