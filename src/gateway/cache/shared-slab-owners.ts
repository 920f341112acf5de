import { maxOwners, owner, ownerWords, type SlabLayout, slot, slotWords } from './shared-slab-layout.ts';

/** Entries that were used since get another round before they are evicted: at most this many at a time. */
const maxSecondChances = 32;

/** Entries of each organisation, from the newest to the oldest by insertion or last chance. */
function createOrder(words: Int32Array, { owners, slots }: SlabLayout) {
  const ownerAt = (which: number) => owners + which * ownerWords;
  const slotAt = (place: number) => slots + place * slotWords;

  function unlink(place: number): void {
    const at = slotAt(place);
    const list = ownerAt(words[at + slot.owner]!);
    const newer = words[at + slot.newer]!;
    const older = words[at + slot.older]!;
    words[newer === 0 ? list + owner.newest : slotAt(newer - 1) + slot.older] = older;
    words[older === 0 ? list + owner.oldest : slotAt(older - 1) + slot.newer] = newer;
  }

  function link(place: number): void {
    const at = slotAt(place);
    const list = ownerAt(words[at + slot.owner]!);
    const newest = words[list + owner.newest]!;
    words[at + slot.newer] = 0;
    words[at + slot.older] = newest;
    words[newest === 0 ? list + owner.oldest : slotAt(newest - 1) + slot.newer] = place + 1;
    words[list + owner.newest] = place + 1;
  }

  return {
    ownerAt,
    slotAt,
    unlink,
    link,
    /** Second chance: an entry that was used since moves to the front once. */
    chooseOldest(which: number): number {
      for (let chances = 0; ; chances++) {
        const place = words[ownerAt(which) + owner.oldest]! - 1;
        if (words[slotAt(place) + slot.isUsed] === 0 || chances >= maxSecondChances) return place;
        words[slotAt(place) + slot.isUsed] = 0;
        unlink(place);
        link(place);
      }
    },
  };
}

/** Organisations with entries: how many blocks each has, and which entry is evicted next. */
export function createSlabOwners(words: Int32Array, layout: SlabLayout) {
  const { ownerAt, slotAt, ...order } = createOrder(words, layout);
  return {
    /** The organisation's place in the table: its own, a free one, or else a shared one. */
    find(hash: number): number {
      let free = -1;
      for (let which = maxOwners - 1; which >= 0; which--) {
        const at = ownerAt(which);
        if (words[at + owner.blocks] === 0) free = which;
        else if (words[at + owner.hash] === hash) return which;
      }
      if (free < 0) return hash & (maxOwners - 1);
      words[ownerAt(free) + owner.hash] = hash;
      return free;
    },
    link(place: number, which: number, blocks: number): void {
      words[slotAt(place) + slot.owner] = which;
      words[ownerAt(which) + owner.blocks]! += blocks;
      order.link(place);
    },
    unlink(place: number, blocks: number): void {
      order.unlink(place);
      words[ownerAt(words[slotAt(place) + slot.owner]!) + owner.blocks]! -= blocks;
    },
    /** The next entry to evict: of the organisation that has the most blocks, with those that are to be written. */
    findVictim(incoming: number, incomingBlocks: number): number {
      let largest = incoming;
      let most = 0;
      for (let which = 0; which < maxOwners; which++) {
        const used = words[ownerAt(which) + owner.blocks]!;
        const blocks = used === 0 ? 0 : used + (which === incoming ? incomingBlocks : 0);
        if (blocks <= most) continue;
        most = blocks;
        largest = which;
      }
      return order.chooseOldest(largest);
    },
  };
}
