import { federation2, type SubgraphFixture } from './federation.ts';

type Bag = Record<string, unknown>;

const names = 'key requires provides external shareable override inaccessible';
const sdl = (text: string) => `${federation2(names)} ${text}`;

const products = [
  { id: 'p1', sku: 's1', upc: 'u1', name: 'Chair', dims: { w: 4, h: 9 }, inStock: true, warehouse: 'w1' },
  { id: 'p2', sku: 's2', upc: 'u2', name: 'Lamp', dims: null, inStock: false, warehouse: null },
];
const people = [
  { id: 'e1', name: 'Ann', age: 40, nick: 'A', boss: 'e2' },
  { id: 'e2', name: 'Bob', age: 50, nick: null, boss: null },
];
const warehouses = [{ id: 'w1', city: 'Rome', manager: 'e1' }];

const findProduct = (by: 'id' | 'sku' | 'upc', value: unknown) => products.find(it => it[by] === value)!;
const findPerson = (id: unknown) => people.find(it => it.id === id)!;
const findWarehouse = (id: unknown) => warehouses.find(it => it.id === id)!;
const labelOf = (name: unknown, dims: Bag | null | undefined) => `${name} ${dims?.w ?? '?'}`;
const titleOf = (name: unknown, boss: Bag | null | undefined) => `${name} of ${boss?.name ?? 'no one'}`;
const cardOf = (title: unknown) => `[${title}]`;

const idsProduct = ({ id, sku, name, dims }: (typeof products)[number]): Bag => ({ id, sku, name, dims });
const stockProduct = ({ upc, inStock, warehouse }: (typeof products)[number], rep: Bag = {}): Bag => ({
  upc,
  inStock,
  warehouse: warehouse && { id: warehouse },
  label: labelOf(rep.name, rep.dims as Bag | undefined),
});
const ownPerson = ({ id, name, age, boss }: (typeof people)[number]): Bag => ({
  ...{ id, name, age },
  boss: () => (boss === null ? null : ownPerson(findPerson(boss))),
});
const placeOf = ({ id, city, manager }: (typeof warehouses)[number]): Bag => ({
  ...{ id, city },
  manager: { id: manager, name: findPerson(manager).name },
});

/** Entities with several keys, a chain of keys, required, provided, moved and shared fields, hidden parts. */
export const warehouseSubgraphs: Record<string, SubgraphFixture> = {
  ids: {
    sdl: sdl(`
      type Product @key(fields: "id") @key(fields: "sku") { id: ID! sku: ID! name: String dims: Size }
      type Size @shareable { w: Int h: Int }
      type Info @shareable { a: Int b: Int }
      type Query { products: [Product!]! product(id: ID!): Product version: Int @shareable first: Info secret: String @inaccessible
        state(only: State, mode: Int @inaccessible): State }
      enum State { OPEN CLOSED LOCKED @inaccessible }
      type Mutation { create(name: String!): Product }`),
    root: {
      products: products.map(idsProduct),
      product: ({ id }: Bag) => (id === 'none' ? null : idsProduct(findProduct('id', id))),
      ...{ version: 2, first: { a: 1, b: 2 }, secret: 'x' },
      state: ({ only }: Bag) => only ?? 'CLOSED',
      create: () => idsProduct(products[0]!),
    },
    entities: { Product: ({ id, sku }) => idsProduct(id ? findProduct('id', id) : findProduct('sku', sku)) },
  },
  mapping: {
    sdl: sdl('type Product @key(fields: "sku") @key(fields: "upc") { sku: ID! upc: ID! }'),
    entities: {
      Product({ sku, upc }) {
        const found = sku ? findProduct('sku', sku) : findProduct('upc', upc);
        return { sku: found.sku, upc: found.upc };
      },
    },
  },
  stock: {
    sdl: sdl(`
      type Product @key(fields: "upc") { upc: ID! inStock: Boolean warehouse: Warehouse name: String @external dims: Size @external
        label: String @requires(fields: "name dims { w }") }
      type Size @shareable { w: Int h: Int }
      type Info @shareable { a: Int b: Int }
      type Warehouse @key(fields: "id", resolvable: false) { id: ID! }
      type Query { stocked: [Product!]! version: Int @shareable second: Info }
      type Mutation { restock(upc: ID!): Product }`),
    root: {
      stocked: products.map(it => stockProduct(it)),
      ...{ version: 2, second: { a: 1, b: 2 } },
      restock: ({ upc }: Bag) => stockProduct(findProduct('upc', upc)),
    },
    entities: { Product: rep => stockProduct(findProduct('upc', rep.upc), rep) },
  },
  places: {
    sdl: sdl(`
      type Warehouse @key(fields: "id") { id: ID! city: String manager: Person @provides(fields: "name") }
      type Person @key(fields: "id") { id: ID! name: String @external }
      type Query { warehouses: [Warehouse!]! }`),
    root: { warehouses: warehouses.map(placeOf) },
    entities: { Warehouse: ({ id }) => placeOf(findWarehouse(id)), Person: ({ id }) => ({ id }) },
  },
  people: {
    sdl: sdl(`
      type Person @key(fields: "id") { id: ID! name: String boss: Person age: Int @override(from: "legacy") salary: Int @inaccessible }
      type Query { people: [Person!]! person(id: ID!): Person }
      type Mutation { hire(name: String!): Person }`),
    root: {
      people: people.map(ownPerson),
      person: ({ id }: Bag) => ownPerson(findPerson(id)),
      hire: () => ownPerson(people[1]!),
    },
    entities: { Person: ({ id }) => ownPerson(findPerson(id)) },
  },
  legacy: {
    sdl: sdl(`
      type Person @key(fields: "id") { id: ID! age: Int nick: String name: String @external boss: Person @external
        title: String @requires(fields: "name boss { name }") }
      type Query { old: [Person!]! }`),
    root: { old: people.map(({ id, nick }) => ({ id, nick, age: 0 })) },
    entities: {
      Person: ({ id, name, boss }) => ({ id, age: 0, nick: findPerson(id).nick, title: titleOf(name, boss as Bag) }),
    },
  },
  cards: {
    sdl: sdl(`
      type Person @key(fields: "id") { id: ID! title: String @external card: String @requires(fields: "title") }`),
    entities: { Person: ({ id, title }) => ({ id, card: cardOf(title) }) },
  },
};

/** The same values as a single server has them. */
export function wholeWarehouse(): Bag {
  const wholePerson = (id: unknown): Bag => {
    const { name, age, nick, boss } = findPerson(id);
    const title = titleOf(name, boss === null ? null : { name: findPerson(boss).name });
    return { id, name, age, nick, title, card: cardOf(title), boss: () => (boss === null ? null : wholePerson(boss)) };
  };
  const wholePlace = (id: unknown): Bag => ({
    ...findWarehouse(id),
    manager: () => wholePerson(findWarehouse(id).manager),
  });
  const wholeProduct = (found: (typeof products)[number]): Bag => ({
    ...found,
    warehouse: () => (found.warehouse === null ? null : wholePlace(found.warehouse)),
    label: labelOf(found.name, found.dims),
  });
  const all = products.map(wholeProduct);
  return {
    ...{ products: all, stocked: all, version: 2, first: { a: 1, b: 2 }, second: { a: 1, b: 2 } },
    product: ({ id }: Bag) => (id === 'none' ? null : wholeProduct(findProduct('id', id))),
    state: ({ only }: Bag) => only ?? 'CLOSED',
    warehouses: ['w1'].map(wholePlace),
    people: ['e1', 'e2'].map(wholePerson),
    old: ['e1', 'e2'].map(wholePerson),
    person: ({ id }: Bag) => wholePerson(id),
    create: () => all[0],
    restock: ({ upc }: Bag) => wholeProduct(findProduct('upc', upc)),
    hire: () => wholePerson('e2'),
  };
}
