/**
 * The part of the page's script that makes elements, and dialogs with forms from JSON Schemas.
 *
 * @module
 */

/** JavaScript for browsers. */
export const FORM_SCRIPT: string = `
/** Makes an element. Texts are only ever text: nothing is parsed as HTML. */
function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== undefined && value !== false) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== undefined && child !== false));
  return element;
}

/** What an error of a request says to the administrator. */
const problemOf = (error) => error instanceof ApiError ? error.message : "The server could not be reached.";

/** first_name as "First name". */
function toLabel(name) {
  const words = name.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/[_-]/g, " ").toLowerCase()
    .replace(/\\b(uri|url|jwks|id|acr|dpop|tls)(s?)\\b/g, (_, word, end) => word.toUpperCase() + end);
  return words[0].toUpperCase() + words.slice(1);
}

/** The schema without its alternative null. */
function withoutNull(schema) {
  const [first] = (schema.anyOf ?? schema.oneOf ?? []).filter((each) => each.type !== "null");
  const plain = first ? { ...schema, ...first } : schema;
  return {
    ...plain,
    type: [plain.type].flat().find((each) => each !== "null"),
    enum: plain.enum?.filter((each) => each !== null),
  };
}

/** Whether null removes the property. */
const isRemovable = (schema) =>
  [schema, ...schema.anyOf ?? [], ...schema.oneOf ?? []].some(({ type }) => [type].flat().includes("null"));

const isTextList = (schema) => schema.type === "array" && withoutNull(schema.items ?? {}).type === "string";

/** A control for one property, and a function that reads it; undefined when it is empty. */
function makeControl(name, given, value, isRequired) {
  const schema = withoutNull(given);
  const id = "field-" + name;
  const hint = schema.description;
  const more = { id, name, "aria-describedby": hint && id + "-hint", required: isRequired };
  let control, read;
  const words = schema.type === "array" ? schema.items?.enum : schema.enum;
  if (words && schema.type !== "array") {
    control = el("select", more, el("option", { value: "" }, isRequired ? "Choose" : "–"),
      ...words.map((word) => el("option", { value: word, selected: word === value }, word)));
    read = () => control.value || undefined;
  } else if (words) {
    control = el("fieldset", { id }, el("legend", { class: "hidden" }, toLabel(name)), ...words.map((word) =>
      el("label", {}, el("input", { type: "checkbox", value: word, checked: value?.includes(word) }), " " + word)));
    read = () => {
      const chosen = [...control.querySelectorAll(":checked")].map((box) => box.value);
      return chosen.length > 0 ? chosen : undefined;
    };
  } else if (schema.type === "boolean") {
    control = el("select", more, el("option", { value: "" }, "–"),
      el("option", { value: "true", selected: value === true }, "yes"),
      el("option", { value: "false", selected: value === false }, "no"));
    read = () => control.value === "" ? undefined : control.value === "true";
  } else if (schema.type === "integer" || schema.type === "number") {
    control = el("input", { ...more, type: "number", min: schema.minimum, max: schema.maximum, value });
    read = () => control.value === "" ? undefined : Number(control.value);
  } else if (isTextList(schema)) {
    control = el("textarea", { ...more, rows: 3 }, (value ?? []).join("\\n"));
    read = () => {
      const lines = control.value.split("\\n").map((line) => line.trim()).filter(Boolean);
      return lines.length > 0 ? lines : undefined;
    };
  } else if (schema.type === "object" || schema.type === "array") {
    control = el("textarea", { ...more, rows: 5, spellcheck: "false" },
      value === undefined || value === null ? "" : JSON.stringify(value, null, 2));
    read = () => {
      if (control.value.trim() === "") return undefined;
      try {
        return JSON.parse(control.value);
      } catch {
        throw new ApiError(toLabel(name) + ": must be JSON");
      }
    };
  } else {
    const isHidden = /password|secret/.test(name);
    const isLong = isHidden && schema.maxLength > 4096;
    control = isLong ? el("textarea", more) : el("input", {
      ...more,
      type: isHidden ? "password" : "text",
      autocomplete: isHidden ? "new-password" : "off",
      maxlength: schema.maxLength,
      value,
    });
    read = () => control.value === "" ? undefined : control.value;
  }
  const label = el("label", { for: control.tagName === "FIELDSET" ? undefined : id }, toLabel(name));
  const lines = isTextList(schema) && !words ? " (one per line)" : "";
  return { label, control, read, hint: hint && el("p", { class: "hint", id: id + "-hint" }, hint + lines) };
}

/** Shows a dialog until it is closed. Resolves to what done was called with. */
function showDialog(title, fill) {
  return new Promise((resolve) => {
    const dialog = el("dialog", { "aria-labelledby": "dialog-title" }, el("h1", { id: "dialog-title" }, title));
    let result;
    const done = (value) => {
      result = value;
      dialog.close();
    };
    dialog.append(...fill(done));
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(result);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/**
 * A form for the properties. With a present value (a change) only what differs is sent, and null for what was emptied.
 * Resolves to the answer of send, or undefined when it was cancelled.
 */
function showForm({ title, text, properties, required, present, action, isDanger, send }) {
  return showDialog(title, (done) => {
    const controls = Object.entries(properties).map(([name, schema]) => {
      const made = makeControl(name, schema, present?.[name] ?? undefined, required.includes(name));
      // As the control shows it: an empty list looks like none, and what the administrator left alone must stay.
      return { name, schema, ...made, before: present && JSON.stringify(made.read()) };
    });
    const problem = el("p", { class: "problem", role: "alert", hidden: true });
    const button = el("button", { class: isDanger ? "danger" : "" }, action);
    const toInput = () => {
      const input = {};
      for (const { name, schema, before, read } of controls) {
        const now = read();
        if (present && JSON.stringify(now) === before) continue;
        if (now !== undefined) input[name] = now;
        else if (present) input[name] = isRemovable(schema) || withoutNull(schema).type !== "string" ? null : "";
      }
      return input;
    };
    const form = el("form", {
      submit: async (event) => {
        event.preventDefault();
        button.disabled = true;
        problem.hidden = true;
        try {
          done({ answer: await send(toInput()) });
        } catch (error) {
          problem.textContent = problemOf(error);
          problem.hidden = false;
          button.disabled = false;
        }
      },
    }, ...controls.flatMap(({ label, control, hint }) => [label, control, ...hint ? [hint] : []]), problem,
      el("div", { class: "row" }, button, el("button", { type: "button", class: "plain", click: () => done() }, "Cancel")));
    return [...text ? [el("p", {}, text)] : [], form];
  });
}

/** Shows what is shown only once. */
function showSecret(title, values) {
  return showDialog(title, (done) => [
    el("p", {}, "Copy it now: it is not shown again."),
    ...Object.entries(values).flatMap(([name, value]) => [
      el("label", {}, toLabel(name)),
      el("code", { class: "secret" }, value),
      el("p", {}, el("button", {
        type: "button",
        class: "plain small",
        click: async (event) => {
          await navigator.clipboard.writeText(value);
          event.target.textContent = "Copied";
        },
      }, "Copy " + toLabel(name).toLowerCase())),
    ]),
    el("div", { class: "row" }, el("button", { type: "button", click: () => done() }, "Done")),
  ]);
}
`;
