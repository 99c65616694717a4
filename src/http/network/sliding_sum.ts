/**
 * A sum of amounts that each count for one window: in slots of a sixteenth of it, so that a sum is a few numbers.
 *
 * @module
 */

/** Slots of a window. An amount counts in full for one window, and for up to one slot longer. */
export const SLOTS = 16;

/** The number of a slot since the epoch, and the sum of the amounts in it. */
export type Slot = readonly [slot: number, amount: number];

/** A sum over the last {@linkcode SLOTS} slots and the current one. `now` is the number of the current slot. */
export class SlidingSum {
  /** In order, without equal slots. */
  #slots: [slot: number, amount: number][] = [];
  #sum = 0;

  constructor(slots: readonly Slot[] = []) {
    this.merge(slots);
  }

  /** The slots with their amounts. */
  get slots(): readonly Slot[] {
    return this.#slots;
  }

  /** The sum. After the clock was set back, amounts of slots that are to come count from now. */
  at(now: number): number {
    while (this.#slots.length > 0 && this.#slots[0]![0] < now - SLOTS) this.#sum -= this.#slots.shift()![1];
    const slots = this.#slots;
    if (slots.length > 0 && slots.at(-1)![0] > now) {
      this.#slots = [];
      for (const [slot, amount] of slots) this.#insert(Math.min(slot, now), amount);
    }
    return this.#sum;
  }

  add(now: number, amount: number): void {
    this.#insert(now, amount);
    this.#sum += amount;
  }

  /** Adds the amounts of other slots, or takes them back (`sign` -1). */
  merge(slots: readonly Slot[], sign: 1 | -1 = 1): void {
    for (const [slot, amount] of slots) this.add(slot, sign * amount);
  }

  /** Subtracts from the newest slots first, never below zero. @returns the amount subtracted */
  subtract(now: number, amount: number): number {
    this.at(now);
    let left = amount;
    for (let i = this.#slots.length - 1; i >= 0 && left > 0; i--) {
      const slot = this.#slots[i]!;
      const part = Math.min(slot[1], left);
      slot[1] -= part;
      left -= part;
    }
    this.#sum -= amount - left;
    return amount - left;
  }

  /** The first slot at whose beginning the amount `needed` is free. */
  slotWhenFree(needed: number, now: number): number {
    let free = 0;
    for (const [slot, amount] of this.#slots) {
      free += amount;
      if (free >= needed) return slot + SLOTS + 1;
    }
    return now + SLOTS + 1;
  }

  #insert(slot: number, amount: number): void {
    let at = this.#slots.length;
    while (at > 0 && this.#slots[at - 1]![0] > slot) at--;
    const same = this.#slots[at - 1];
    if (same?.[0] === slot) same[1] += amount;
    else this.#slots.splice(at, 0, [slot, amount]);
  }
}
