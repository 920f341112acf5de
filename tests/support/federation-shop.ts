import { federation2, type SubgraphFixture } from './federation.ts';

type Bag = Record<string, unknown>;

interface User {
  id: string;
  name: string;
  zip: string | null;
}

const users: User[] = [
  { id: 'u1', name: 'Ann', zip: '10115' },
  { id: 'u2', name: 'Bob', zip: null },
  { id: 'u3', name: 'Cem', zip: '20095' },
];
const products = [
  { upc: 'p1', name: 'Chair', price: 40, weight: 9 },
  { upc: 'p2', name: 'Table', price: 120, weight: 25 },
  { upc: 'p3', name: 'Lamp', price: null, weight: 2 },
];
const reviews = [
  { id: 'r1', body: 'good', author: 'u1', product: 'p1', stars: 5 },
  { id: 'r2', body: 'bad', author: 'u1', product: 'p2', stars: 1 },
  { id: 'r3', body: null, author: 'u2', product: 'p1', stars: 3 },
  { id: 'r4', body: 'dim', author: 'u3', product: 'p3', stars: 2 },
];

const findUser = (id: unknown) => users.find(it => it.id === id)!;
const findProduct = (upc: unknown) => products.find(it => it.upc === upc)!;
const isLocal = (zip: unknown) => (typeof zip === 'string' ? zip.startsWith('1') : null);
const shippingOf = (price: unknown, weight: unknown) => (price === null ? 0 : Number(price) + Number(weight));
const nameIn =
  (name: string) =>
  ({ lang }: { lang?: string }) =>
    lang === 'de' ? `${name}-de` : name;
const firstOf =
  <T>(list: readonly T[]) =>
  ({ first }: { first?: number }): T[] =>
    list.slice(0, first ?? list.length);

const names = 'key requires provides external shareable';

/** Products with a price, reviews with authors, users, and shipping that requires fields of others. */
export const shopSubgraphs: Record<string, SubgraphFixture> = {
  users: {
    sdl: `${federation2(names)}
      type User @key(fields: "id") { id: ID! name: String! zip: String }
      type Query { me: User user(id: ID!): User users: [User!]! }
      type Mutation { rename(id: ID!, name: String!): User }`,
    root: {
      me: () => findUser('u1'),
      user: ({ id }: Bag) => findUser(id),
      users: () => users,
      rename: ({ id, name }: Bag) => ({ ...findUser(id), name }),
    },
    entities: { User: ({ id }) => findUser(id) },
  },
  products: {
    sdl: `${federation2(names)}
      type Product @key(fields: "upc") { upc: ID! name(lang: String): String price: Int weight: Int related: [[Product!]] }
      type Query { products(first: Int): [Product!]! product(upc: ID!): Product }
      type Mutation { addProduct(upc: ID!): Product }`,
    root: {
      products: ({ first }: Bag) => products.map(productOf).slice(0, (first as number | undefined) ?? products.length),
      product: ({ upc }: Bag) => findProduct(upc) && productOf(findProduct(upc)),
      addProduct: ({ upc }: Bag) => productOf(findProduct(upc)),
    },
    entities: { Product: ({ upc }) => productOf(findProduct(upc)) },
  },
  reviews: {
    sdl: `${federation2(names)}
      type User @key(fields: "id") { id: ID! name: String! @external zip: String @external
        reviews(first: Int): [Review!]! isLocal: Boolean @requires(fields: "zip") }
      type Product @key(fields: "upc") { upc: ID! reviews: [Review!]! stars: Float }
      type Review @key(fields: "id") { id: ID! body: String stars: Int author: User @provides(fields: "name") product: Product }
      type Query { reviews: [Review!]! }
      type Mutation { review(upc: ID!, body: String!): Review }`,
    root: {
      reviews: () => reviews.map(reviewOf),
      review: ({ upc, body }: Bag) => reviewOf({ ...reviews[0]!, product: upc as string, body: body as string }),
    },
    entities: {
      User: rep => ({ ...stubUser(rep.id), isLocal: isLocal(rep.zip) }),
      Product: ({ upc }) => stubProduct(upc),
      Review: ({ id }) => reviewOf(reviews.find(it => it.id === id)!),
    },
  },
  shipping: {
    sdl: `${federation2(names)}
      type Product @key(fields: "upc") { upc: ID! price: Int @external weight: Int @external
        shipping: Int @requires(fields: "price weight") express: Int @requires(fields: "price weight") }`,
    entities: {
      Product: ({ upc, price, weight }) => ({
        upc,
        shipping: shippingOf(price, weight),
        express: 2 * shippingOf(price, weight),
      }),
    },
  },
};

function productOf({ name, ...rest }: (typeof products)[number]): Bag {
  const others = () => products.filter(it => it.upc !== rest.upc).map(productOf);
  return { ...rest, name: nameIn(name), related: () => [others(), null] };
}

function reviewOf({ author, product, ...rest }: (typeof reviews)[number]): Bag {
  return {
    ...rest,
    author: () => ({ ...stubUser(author), name: findUser(author).name }),
    product: () => stubProduct(product),
  };
}

function stubUser(id: unknown): Bag {
  return { id, reviews: firstOf(reviews.filter(it => it.author === id).map(reviewOf)) };
}

function stubProduct(upc: unknown): Bag {
  const own = reviews.filter(it => it.product === upc);
  const stars = own.reduce((sum, it) => sum + it.stars, 0) / own.length;
  return { upc, stars, reviews: () => own.map(reviewOf) };
}

/** The same values as a single server has them. */
export const wholeShop = (): Bag => {
  const wholeUser = (id: unknown): Bag => ({
    ...findUser(id),
    isLocal: isLocal(findUser(id).zip),
    reviews: ({ first }: { first?: number }) =>
      firstOf(reviews.filter(it => it.author === id))({ ...(first !== undefined && { first }) }).map(wholeReview),
  });
  const wholeReview = ({ author, product, ...rest }: (typeof reviews)[number]): Bag => ({
    ...rest,
    author: () => wholeUser(author),
    product: () => wholeProduct(product),
  });
  const wholeProduct = (upc: unknown): Bag => {
    const { name, ...rest } = findProduct(upc);
    const shipping = shippingOf(rest.price, rest.weight);
    const own = reviews.filter(it => it.product === upc);
    return {
      ...rest,
      name: nameIn(name),
      related: () => [products.filter(it => it.upc !== upc).map(it => wholeProduct(it.upc)), null],
      shipping,
      express: 2 * shipping,
      stars: own.reduce((sum, it) => sum + it.stars, 0) / own.length,
      reviews: () => own.map(wholeReview),
    };
  };
  return {
    me: () => wholeUser('u1'),
    user: ({ id }: Bag) => findUser(id) && wholeUser(id),
    users: () => users.map(({ id }) => wholeUser(id)),
    products: ({ first }: Bag) =>
      products.map(it => wholeProduct(it.upc)).slice(0, (first as number | undefined) ?? products.length),
    product: ({ upc }: Bag) => findProduct(upc) && wholeProduct(upc),
    reviews: () => reviews.map(wholeReview),
    rename: ({ id, name }: Bag) => ({ ...wholeUser(id), name }),
    addProduct: ({ upc }: Bag) => wholeProduct(upc),
    review: ({ upc, body }: Bag) => wholeReview({ ...reviews[0]!, product: upc as string, body: body as string }),
  };
};
