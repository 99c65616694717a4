/**
 * An adapter as oidc-provider's `example/my_adapter.js` describes it, over a store that is a round trip away: `consume`
 * sets a mark, as the adapters do that the project used to ship. Its adapter in memory answers at once, so that requests
 * at the same time never meet between reading and marking.
 *
 * @module
 */
import { setTimeout } from "node:timers/promises";
import { errors } from "oidc-provider";

const MILLISECONDS = 10;
const store = new Map();

export class RemoteStore {
  constructor(model) {
    this.model = model;
  }

  async upsert(id, payload) {
    await setTimeout(MILLISECONDS);
    store.set(this.#key(id), { ...payload });
  }

  async find(id) {
    await setTimeout(MILLISECONDS);
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
    await setTimeout(MILLISECONDS);
    store.get(this.#key(id)).consumed = Math.floor(Date.now() / 1000);
  }

  async destroy(id) {
    await setTimeout(MILLISECONDS);
    store.delete(this.#key(id));
  }

  async revokeByGrantId(grantId) {
    await setTimeout(MILLISECONDS);
    for (const [key, payload] of store) {
      if (key.startsWith(`${this.model}:`) && payload.grantId === grantId) store.delete(key);
    }
  }

  async #findBy(name, value) {
    await setTimeout(MILLISECONDS);
    for (const [key, payload] of store) {
      if (key.startsWith(`${this.model}:`) && payload[name] === value) return { ...payload };
    }
  }

  #key(id) {
    return `${this.model}:${id}`;
  }
}

/** The same, but that its `consume` refuses what is marked already: the way that is open to whoever writes an adapter. */
export class OneUseStore extends RemoteStore {
  async consume(id) {
    await setTimeout(MILLISECONDS);
    const stored = store.get(`${this.model}:${id}`);
    if (stored.consumed) throw new errors.InvalidGrant("used already");
    stored.consumed = Math.floor(Date.now() / 1000);
  }
}
