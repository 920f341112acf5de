/** Supergraphs of the audit. */
export type AuditGraph = 'shop' | 'library' | 'market' | 'warehouse';

export interface AuditCase {
  readonly graph: AuditGraph;
  readonly query: string;
  readonly variables?: Record<string, unknown>;
}

const on =
  (graph: AuditGraph) =>
  (query: string, variables: Record<string, unknown> = {}): AuditCase => ({ graph, query, variables });
const [shop, library, market, warehouse] = [on('shop'), on('library'), on('market'), on('warehouse')];

/** Cases of federation by group, from its specification; each group has four at least. */
export const auditGroups: Readonly<Record<string, readonly AuditCase[]>> = {
  'entity calls': [
    warehouse('{ products { id upc } }'),
    warehouse('{ products { inStock } }'),
    warehouse('{ stocked { name dims { h } } }'),
    warehouse('{ products { warehouse { id } } }'),
    warehouse('{ products { warehouse { city manager { age boss { nick } } } } }'),
    warehouse('{ product(id: "p1") { warehouse { city } upc } product2: product(id: "p2") { upc } }'),
    shop('{ me { reviews { product { name reviews { author { name zip } } } } } }'),
    library('{ shelves { code first { ... on Book { title } } } shelf { code } }'),
  ],
  fragments: [
    warehouse('{ products { ...P } } fragment P on Product { upc ...Q } fragment Q on Product { inStock sku }'),
    warehouse('{ products { ... { upc ... on Product { warehouse { ... { city } } } } } }'),
    warehouse('query ($a: Boolean!) { products { ... @include(if: $a) { inStock } name @skip(if: $a) } }', { a: true }),
    warehouse(
      '{ products { ...A ...B } } fragment A on Product { warehouse { id } } fragment B on Product { warehouse { city } }',
    ),
    library(
      '{ media { ...M } } fragment M on Media { ... on Book { copies ... on Media { stars } } ... on Film { label } }',
    ),
    shop('{ me { ...U } users { ...U } } fragment U on User { n: name reviews { p: product { n: name } } }'),
  ],
  unions: [
    library('{ shelf { items { __typename ... on Book { title copies } ... on Film { minutes stars } } } }'),
    library('{ item(id: "b1") { ... on Book { copies stars } } other: item(id: "f1") { ... on Film { title } } }'),
    library('{ newest { ... on Book { title copies } ... on Film { minutes } } }'),
    library(
      '{ shelf { first { ... on Media { id stars } } items { ... on Film { size: minutes } ... on Book { size: pages } } } }',
    ),
    library('{ item(id: "f1") { ... on Book { copies } } }'),
  ],
  '@requires chains': [
    warehouse('{ products { label } }'),
    warehouse('{ stocked { label } }'),
    warehouse('{ people { title } }'),
    warehouse('{ people { card } }'),
    warehouse('{ warehouses { manager { card nick } } }'),
    warehouse('{ old { card } }'),
    warehouse('{ product(id: "p1") { name warehouse { manager { title } } } }'),
    warehouse('{ old { title boss { title } } }'),
    shop('{ products { reviews { author { isLocal reviews { author { isLocal } } } } } }'),
    shop('{ me { reviews { product { reviews { author { isLocal } } } } } }'),
    market('{ shops { rank score } }'),
    market('{ shop(id: "s1") { next { rank } } }'),
    shop('{ products { shipping express } me { isLocal } }'),
    warehouse('{ person(id: "e1") { boss { title } } }'),
    shop('{ me { reviews { author { isLocal } } } }'),
  ],
  mutations: [
    warehouse('mutation { create(name: "X") { id inStock warehouse { city } } }'),
    warehouse('mutation { hire(name: "Zed") { title nick age } create(name: "X") { upc } }'),
    warehouse(
      'mutation { a: restock(upc: "u1") { name } b: hire(name: "Z") { card } c: restock(upc: "u2") { label } }',
    ),
    warehouse(
      'mutation ($n: String!) { create(name: $n) { ...P } } fragment P on Product { warehouse { manager { name } } }',
      { n: 'Y' },
    ),
    shop('mutation { review(upc: "p2", body: "ok") { body product { name } } rename(id: "u1", name: "Eva") { name } }'),
  ],
  'nested lists': [
    market('{ shop(id: "s1") { grid { id count } } }'),
    market('{ shops { id grid { count } codes } }'),
    market('{ a: shop(id: "s1") { grid { count } } b: shop(id: "s2") { g: grid { i: id } } }'),
    shop('{ products { related { name shipping reviews { body } } } }'),
  ],
  nulls: [
    market('{ nobody { name score grid { count } } version }'),
    market('{ shops { name lastState score } }'),
    warehouse('{ product(id: "none") { upc inStock warehouse { city } } }'),
    warehouse('{ products { dims { w } warehouse { city manager { name } } } }'),
    warehouse('{ people { nick boss { nick boss { name } } } }'),
    shop('{ user(id: "none") { name reviews { id } } }'),
  ],
  'enum intersections': [
    market('{ shops { state lastState } }'),
    market('{ shops(order: NAME) { id visits(order: NAME) } }'),
    market('query ($o: Order) { shops(order: $o) { visits(order: $o) } }', { o: 'NAME' }),
    market('{ __type(name: "Order") { enumValues { name } } }'),
    market('{ __type(name: "State") { enumValues { name } } }'),
  ],
  '@override': [
    warehouse('{ people { age } }'),
    warehouse('{ old { nick age } }'),
    warehouse('{ warehouses { manager { age nick } } }'),
    warehouse('{ person(id: "e1") { boss { age } } }'),
    library('{ loans { id price } }'),
  ],
  'abstract types': [
    library('{ media { title ... on Book { pages copies } ... on Film { minutes } } }'),
    library('{ media { __typename ... on Book { kind: __typename } } }'),
    library('{ media { ... on Book { size: pages } ... on Film { size: minutes } } }'),
    library('{ loans { media { __typename title ... on Film { minutes } } } }'),
    library('{ best { __typename ... on Book { pages } ... on Film { minutes } } }'),
  ],
  introspection: [
    warehouse('{ __schema { queryType { name } mutationType { name } subscriptionType { name } } }'),
    warehouse('{ __type(name: "Person") { kind fields { name type { kind name ofType { name } } } } }'),
    warehouse('{ __schema { types { name kind } directives { name } } products { id } }'),
    library('{ __type(name: "Media") { possibleTypes { name } fields { name } } }'),
    library('{ __type(name: "Item") { kind possibleTypes { name } } __typename }'),
  ],
  '@interfaceObject': [
    library('{ media { title stars label } }'),
    library('{ best { __typename title stars ... on Film { minutes } } }'),
    library('{ loans { media { label title ... on Book { pages stars } } } }'),
    library('{ shelf { items { ... on Book { stars } ... on Film { label } } } }'),
    library('{ media { ... on Film { stars } id } }'),
  ],
  '@provides': [
    warehouse('{ warehouses { manager { name } } }'),
    warehouse('{ warehouses { manager { n: name age } } }'),
    warehouse('{ warehouses { manager { name boss { name } } } }'),
    warehouse('{ products { warehouse { manager { name title } } } }'),
    shop('{ reviews { author { name zip } } }'),
  ],
  '@shareable': [
    warehouse('{ version }'),
    warehouse('{ version first { a } second { a b } }'),
    warehouse('{ stocked { dims { w h } } products { dims { h } } }'),
    library('{ catalog { size } shelf { place { city } } }'),
    library('{ shelves { place { city } code } catalog { size } }'),
  ],
  '@inaccessible': [
    warehouse('{ __type(name: "Query") { fields { name args { name } } } }'),
    warehouse('{ __type(name: "Person") { fields { name } } }'),
    warehouse('{ __type(name: "State") { enumValues { name } } state }'),
    warehouse('{ state(only: OPEN) }'),
    library('{ __type(name: "Book") { fields { name } } media { ... on Book { pages } } }'),
  ],
};
