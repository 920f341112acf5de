import { federation2, type SubgraphFixture } from './federation.ts';

type Bag = Record<string, unknown>;

const sdl = (text: string) => `${federation2('key requires external shareable')} ${text}`;

const shops = [
  { id: 's1', name: 'North', state: 'OPEN', base: 2, lastState: 'MOVED' },
  { id: 's2', name: null, state: 'CLOSED', base: null, lastState: null },
  { id: 's3', name: 'South', state: null, base: 5, lastState: 'OPEN' },
];
const findShop = (id: unknown) => shops.find(it => it.id === id)!;
/** `i9` is unknown to the subgraph of counts. */
const grid = [[{ id: 'i1' }, null, { id: 'i9' }], null, [], [{ id: 'i1' }, { id: 'i2' }]];
const countOf = (id: unknown) => (id === 'i9' ? null : Number(String(id).slice(1)) * 10);
const scoreOf = (base: unknown) => (base === null ? null : Number(base) * 10);
const rankOf = (score: unknown) => (score === null ? null : Number(score) + 1);
const sort = ({ order }: Bag) => (order === 'NAME' ? shops.toReversed() : shops);

/** Enums that differ by subgraph, lists of lists, nulls at every level, and fields that require required fields. */
export const marketSubgraphs: Record<string, SubgraphFixture> = {
  shops: {
    sdl: sdl(`
      enum Order { NAME STATE }
      enum State { OPEN CLOSED }
      type Shop @key(fields: "id") { id: ID! name: String state: State base: Int grid: [[Item]] codes: [[[Int]!]] next: Shop }
      type Item @key(fields: "id") { id: ID! }
      type Query { shops(order: Order): [Shop] shop(id: ID!): Shop nobody: Shop }`),
    root: {
      shops: (args: Bag) => [...sort(args).map(shopOf), null],
      shop: ({ id }: Bag) => findShop(id) && shopOf(findShop(id)),
      nobody: null,
    },
    entities: { Shop: ({ id }) => shopOf(findShop(id)), Item: ({ id }) => ({ id }) },
  },
  stats: {
    sdl: sdl(`
      enum Order { NAME STARS }
      enum State { OPEN MOVED }
      type Shop @key(fields: "id") { id: ID! base: Int @external lastState: State visits(order: Order): Int score: Int @requires(fields: "base") }
      type Item @key(fields: "id") { id: ID! count: Int }
      type Query { version: Int }`),
    root: { version: 1 },
    entities: {
      Shop: ({ id, base }) => ({ id, lastState: findShop(id).lastState, visits: visitsOf, score: scoreOf(base) }),
      Item: ({ id }) => (id === 'i9' ? null : { id, count: countOf(id) }),
    },
  },
  ranks: {
    sdl: sdl(`
      type Shop @key(fields: "id") { id: ID! score: Int @external rank: Int @requires(fields: "score") }`),
    entities: { Shop: ({ id, score }) => ({ id, rank: rankOf(score) }) },
  },
};

const visitsOf = ({ order }: Bag) => (order === 'NAME' ? 1 : 2);

function shopOf({ lastState: _ofStats, ...own }: (typeof shops)[number]): Bag {
  return {
    ...own,
    grid,
    codes: [[[1, null], []], null],
    next: () => (own.id === 's1' ? shopOf(findShop('s2')) : null),
  };
}

/** The same values as a single server has them. */
export function wholeMarket(): Bag {
  const cells = grid.map(row => row?.map(cell => cell && { ...cell, count: countOf(cell.id) }) ?? null);
  const whole = (shop: (typeof shops)[number]): Bag => ({
    ...shopOf(shop),
    grid: cells,
    lastState: shop.lastState,
    visits: visitsOf,
    score: scoreOf(shop.base),
    rank: rankOf(scoreOf(shop.base)),
    next: () => (shop.id === 's1' ? whole(findShop('s2')) : null),
  });
  return {
    shops: (args: Bag) => [...sort(args).map(whole), null],
    shop: ({ id }: Bag) => findShop(id) && whole(findShop(id)),
    nobody: null,
    version: 1,
  };
}
