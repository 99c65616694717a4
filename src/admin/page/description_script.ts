/**
 * The part of the page's script that reads the OpenAPI description of the API, and says how names and values are shown.
 *
 * @module
 */

/** JavaScript for browsers. */
export const DESCRIPTION_SCRIPT: string = `
/** Columns of lists; other lists show their first ones. */
const COLUMNS = {
  "/users": ["username", "name", "email", "role", "locked"],
  "/clients": ["id", "name", "source", "token_endpoint_auth_method", "created"],
  "/keys": ["name", "scopes", "workspace", "created"],
  "/audit": ["time", "type", "fields"],
  "/tool_calls": ["time", "tool", "principal", "failed"],
  "/upstreams": ["name", "server", "state", "tools", "last_error"],
  "/held_tools": ["upstream", "tool", "change", "status", "warnings"],
};
const MAX_COLUMNS = 5;
/** Operations: { id, method, path, summary, properties, required, output, isList }, with :name segments in the path. */
let operations = [];

function readDescription({ paths, components }) {
  const resolve = (schema) => schema?.$ref ? schema.$ref.slice(2).split("/").reduce((at, step) => at[step], { components }) : schema;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).filter(([, each]) => each.operationId).map(([method, each]) => {
      const own = path.replace(/^\\/admin(?=\\/)/, "").replace(/\\{(\\w+)\\}/g, ":$1");
      const body = resolve(each.requestBody?.content?.["application/json"]?.schema) ?? {};
      const query = (each.parameters ?? []).map(resolve).filter((one) => one.in === "query");
      const good = Object.entries(each.responses).find(([code]) => code.startsWith("2"))?.[1];
      const output = resolve(resolve(good)?.content?.["application/json"]?.schema);
      return {
        id: each.operationId,
        method: method.toUpperCase(),
        path: own,
        summary: each.summary,
        properties: { ...Object.fromEntries(query.map((one) => [one.name, one.schema])), ...body.properties },
        required: [...query.filter((one) => one.required).map((one) => one.name), ...body.required ?? []],
        isList: output?.properties?.next_page !== undefined,
        member: resolve(output?.properties?.data?.items),
      };
    })
  );
}

const find = (method, path) => operations.find((each) => each.method === method && each.path === path);
const fillPath = (path, values) => path.replace(/:(\\w+)/g, (_, name) => encodeURIComponent(values[name]));
/** "/users/:user/lock" as ["users", ":user", "lock"]. */
const segmentsOf = (path) => path.split("/").slice(1);
const isItem = (path, list) => segmentsOf(path).length === segmentsOf(list).length + 1 && path.startsWith(list + "/:");
const nounOf = (path) => toLabel(segmentsOf(path).filter((each) => !each.startsWith(":")).at(-1));
const singular = (noun) => noun.replace(/ies$/, "y").replace(/s$/, "");

function toText(value) {
  if (value === null || value === undefined || value === "") return "–";
  if (value === true) return "yes";
  if (value === false) return "no";
  if (Array.isArray(value)) {
    return value.length === 0 ? "–" : value.map((each) => typeof each === "object" ? JSON.stringify(each) : each).join(", ");
  }
  if (typeof value === "object") {
    return Object.entries(value).map(([name, each]) => name + ": " + toText(each)).join(", ") || "–";
  }
  return String(value);
}

function toNode(value) {
  if (typeof value === "string" && /^\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z$/.test(value)) {
    return el("time", { datetime: value, title: value }, new Date(value).toLocaleString());
  }
  return toText(value);
}

function factsOf(value) {
  return el("dl", { class: "facts-of" }, ...Object.entries(value).flatMap(([name, each]) => [
    el("dt", {}, toLabel(name)),
    el("dd", {}, toNode(each)),
  ]));
}

/** A short name for a button, from the last segment of the path. */
function labelOf({ method, path }) {
  const last = segmentsOf(path).at(-1);
  if (method === "DELETE") return last.startsWith(":") ? "Remove" : "Remove " + toLabel(last).toLowerCase();
  if (method === "PATCH") return "Change";
  if (last === "password") return "Set password";
  if (last === "secret") return "New secret";
  return toLabel(last);
}
`;
