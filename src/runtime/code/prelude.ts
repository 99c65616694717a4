/**
 * What a program finds in its sandbox, as text that runs in there: `tools`, `console`, a clock that stands still and random
 * numbers from a seed, so that a program that is repeated takes the same way.
 *
 * @module
 */

/** The functions of the host get and return only texts and numbers, so that no object of the host reaches the program. */
export const PRELUDE = `(function (request, log, finish, seed, now) {
  "use strict";
  const { parse, stringify } = JSON;
  const { construct } = Reflect;
  const P = Promise, E = Error, S = String, Clock = Date;
  const then = P.prototype.then, apply = Reflect.apply;
  const waiting = { __proto__: null };
  let last = 0;

  Math.random = () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const clock = () => now;
  globalThis.Date = new Proxy(Clock, {
    construct: (target, given, by) => construct(target, given.length === 0 ? [now] : given, by),
    apply: () => new Clock(now).toString(),
    get: (target, key) => key === "now" ? clock : target[key],
  });
  Clock.prototype.constructor = globalThis.Date;

  class ToolError extends E {}
  Object.defineProperty(ToolError.prototype, "name", { value: "ToolError" });
  globalThis.ToolError = ToolError;

  const call = (name, input) => new P((resolve, reject) => {
    const text = input === undefined ? "{}" : stringify(input);
    const id = ++last;
    waiting[id] = [resolve, reject];
    request(id, name, S(text));
  });
  globalThis.tools = new Proxy(Object.freeze({ __proto__: null }), {
    // "then" must not make an object with methods a promise.
    get: (_, name) => typeof name === "symbol" || name === "then" ? undefined : (input) => call(name, input),
  });

  const show = (value) => {
    if (typeof value === "string") return value;
    if (value instanceof E) return S(value.name) + ": " + S(value.message);
    try {
      const text = typeof value === "object" ? stringify(value) : undefined;
      return text === undefined ? S(value) : text;
    } catch { return "[unprintable]"; }
  };
  const write = (...values) => { log(values.map(show).join(" ")); };
  globalThis.console = { log: write, info: write, warn: write, error: write, debug: write };

  const fail = (error) => {
    let text = "unprintable";
    try {
      text = error instanceof E ? S(error.name) + ": " + S(error.message) : show(error);
      const at = error instanceof E ? /program\\.js:(\\d+)/.exec(S(error.stack)) : null;
      if (at) text += " (line " + at[1] + ")";
    } catch {}
    finish(false, text);
  };
  return {
    start(run) {
      const done = (value) => {
        let text;
        try { text = stringify(value); } catch (error) { return fail(error); }
        finish(true, text === undefined ? "null" : text);
      };
      try { apply(then, run(), [done, fail]); } catch (error) { fail(error); }
    },
    settle(id, isDone, text) {
      const [resolve, reject] = waiting[id];
      delete waiting[id];
      if (isDone) resolve(parse(text));
      else reject(new ToolError(text));
    },
  };
})`;
