/**
 * An adapter as in oidc-provider's `example/my_adapter.js`, over a store with latency: `consume` sets a mark, like the
 * adapters that the project used to ship. Its memory adapter answers immediately, so that concurrent requests never
 * interleave between reading and marking.
 *
 * @module
 */
import { setTimeout } from "node:timers/promises";
import { errors } from "oidc-provider";

const LATENCY_MS = 10;
const store = new Map();

export class RemoteStore {
  constructor(model) {
    this.model = model;
  }

  async upsert(id, payload) {
    await setTimeout(LATENCY_MS);
    store.set(this.#key(id), { ...payload });
  }

  async find(id) {
    await setTimeout(LATENCY_MS);
    const found = store.get(this.#key(id));
    return found && { ...found };
  }

  async findByUid(uid) {
    return await this.#findBy("uid", uid);
  }

  async findByUserCode(userCode) {
    return await this.#findBy("userCode", userCode);
  }

  async consume(id) {
    await setTimeout(LATENCY_MS);
    store.get(this.#key(id)).consumed = Math.floor(Date.now() / 1000);
  }

  async destroy(id) {
    await setTimeout(LATENCY_MS);
    store.delete(this.#key(id));
  }

  async revokeByGrantId(grantId) {
    await setTimeout(LATENCY_MS);
    for (const [key, payload] of store) {
      if (key.startsWith(`${this.model}:`) && payload.grantId === grantId) store.delete(key);
    }
  }

  async #findBy(name, value) {
    await setTimeout(LATENCY_MS);
    for (const [key, payload] of store) {
      if (key.startsWith(`${this.model}:`) && payload[name] === value) return { ...payload };
    }
  }

  #key(id) {
    return `${this.model}:${id}`;
  }
}

/** Refuses in `consume` what is already marked, as the author of an adapter can do. */
export class OneUseStore extends RemoteStore {
  async consume(id) {
    await setTimeout(LATENCY_MS);
    const stored = store.get(`${this.model}:${id}`);
    if (stored.consumed) throw new errors.InvalidGrant("already used");
    stored.consumed = Math.floor(Date.now() / 1000);
  }
}
