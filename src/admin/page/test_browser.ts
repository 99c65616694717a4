/**
 * For tests: as much of a document as the script of the page needs for its forms.
 *
 * @module
 */
import { DESCRIPTION_SCRIPT } from "./description_script.ts";
import { FORM_SCRIPT } from "./form_script.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** An element, as far as the script uses it. */
export class FakeElement {
  readonly tagName: string;
  readonly attributes: Map<string, string> = new Map();
  readonly children: (FakeElement | string)[] = [];
  readonly listeners: Map<string, (event: object) => unknown> = new Map();
  disabled = false;
  hidden = false;
  #value: string | undefined;

  constructor(name: string) {
    this.tagName = name.toUpperCase();
  }

  setAttribute(name: string, value: unknown): void {
    this.attributes.set(name, String(value));
  }

  addEventListener(type: string, listener: (event: object) => unknown): void {
    this.listeners.set(type, listener);
  }

  append(...children: unknown[]): void {
    this.children.push(...children.map((each) => each instanceof FakeElement ? each : String(each)));
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

  querySelectorAll(): FakeElement[] {
    return this.all().filter(({ attributes }) => attributes.has("checked"));
  }

  /** The elements below it. */
  all(): FakeElement[] {
    return this.children.flatMap((each) => typeof each === "string" ? [] : [each, ...each.all()]);
  }

  showModal(): void {}
  remove(): void {}
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
