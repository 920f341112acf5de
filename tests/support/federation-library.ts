import { federation2, type SubgraphFixture } from './federation.ts';

type Bag = Record<string, unknown>;

const names = 'key requires provides external shareable override inaccessible interfaceObject';
const sdl = (text: string) => `${federation2(names)} ${text}`;

const media: Bag[] = [
  { __typename: 'Book', id: 'b1', title: 'Dune', pages: 412, format: 'PAPER' },
  { __typename: 'Film', id: 'f1', title: 'Alien', minutes: 117, format: 'DISC' },
  { __typename: 'Book', id: 'b2', title: 'Emma', pages: 474, format: 'PAPER' },
];
const loans = [
  { id: 'l1', media: 'b1', days: 3 },
  { id: 'l2', media: 'f1', days: 1 },
];
const findMedia = (id: unknown) => media.find(it => it.id === id)!;
const starsOf = (id: unknown) => String(id).charCodeAt(0) % 5;
const labelOf = (id: unknown) => `<${id}>`;
const priceOf = (days: unknown) => Number(days) * 2;

/** Interfaces, unions, interface objects, moved fields and hidden parts. */
export const librarySubgraphs: Record<string, SubgraphFixture> = {
  library: {
    sdl: sdl(`
      interface Media @key(fields: "id") { id: ID! title: String format: Format }
      type Book implements Media @key(fields: "id") { id: ID! title: String format: Format pages: Int isbn: String @inaccessible }
      type Film implements Media @key(fields: "id") { id: ID! title: String format: Format minutes: Int }
      union Item = Book | Film
      enum Format { PAPER DISC }
      type Shelf @key(fields: "name place { city }") { name: String! place: Place items: [Item!]! first: Item }
      type Place @shareable { city: String! }
      type Loan @key(fields: "id") { id: ID! days: Int price: Int }
      type Query { media: [Media!]! item(id: ID!): Item shelf: Shelf loans: [Loan!]! catalog: Catalog @shareable hidden: Int @inaccessible }
      type Catalog @shareable { size: Int }`),
    root: {
      media,
      item: ({ id }: Bag) => findMedia(id),
      shelf: () => shelfOf('north', 'Rome'),
      loans,
      catalog: { size: 3 },
      hidden: 1,
    },
    entities: {
      Media: ({ id }) => findMedia(id),
      Book: ({ id }) => findMedia(id),
      Film: ({ id }) => findMedia(id),
      Loan: ({ id }) => ({ ...loans.find(it => it.id === id), price: 0 }),
      Shelf: ({ name, place }) => shelfOf(name as string, (place as Bag).city as string),
    },
  },
  ratings: {
    sdl: sdl(`
      type Media @interfaceObject @key(fields: "id") { id: ID! stars: Int label: String }
      type Loan @key(fields: "id") { id: ID! days: Int @external media: Media price: Int @override(from: "library") @requires(fields: "days") }
      type Query { best: Media }`),
    root: { best: ratingOf('f1') },
    entities: {
      Media: ({ id }) => ratingOf(id),
      Loan: ({ id, days }) => ({ id, price: priceOf(days), media: ratingOf(loans.find(it => it.id === id)!.media) }),
    },
  },
  shelves: {
    sdl: sdl(`
      type Shelf @key(fields: "name place { city }") { name: String! place: Place code: String }
      type Place @shareable { city: String! }
      type Book @key(fields: "id") { id: ID! copies: Int }
      union Item = Book
      type Query { newest: Item shelves: [Shelf!]! catalog: Catalog @shareable }
      type Catalog @shareable { size: Int }
      enum Format { PAPER DISC }`),
    root: {
      newest: { __typename: 'Book', id: 'b2', copies: 2 },
      shelves: [{ name: 'south', place: { city: 'Oslo' }, code: 'south/Oslo' }],
      catalog: { size: 3 },
    },
    entities: {
      Shelf: ({ name, place }) => ({ name, place, code: `${name}/${(place as Bag).city}` }),
      Book: ({ id }) => ({ id, copies: String(id).length }),
    },
  },
};

function ratingOf(id: unknown): Bag {
  return { id, stars: starsOf(id), label: labelOf(id) };
}

function shelfOf(name: string, city: string): Bag {
  return { name, place: { city }, items: media.slice(0, 2), first: media[0] };
}

/** The same values as a single server has them. */
export function wholeLibrary(): Bag {
  const wholeMedia = (id: unknown): Bag => {
    const found = findMedia(id);
    return { ...found, stars: starsOf(id), label: labelOf(id), copies: String(id).length };
  };
  const wholeShelf = (name: string, city: string) => ({
    ...shelfOf(name, city),
    code: `${name}/${city}`,
    items: ['b1', 'f1'].map(wholeMedia),
    first: wholeMedia('b1'),
  });
  return {
    media: media.map(({ id }) => wholeMedia(id)),
    item: ({ id }: Bag) => wholeMedia(id),
    shelf: () => wholeShelf('north', 'Rome'),
    shelves: () => [wholeShelf('south', 'Oslo')],
    loans: loans.map(it => ({ ...it, price: priceOf(it.days), media: wholeMedia(it.media) })),
    best: wholeMedia('f1'),
    newest: wholeMedia('b2'),
    catalog: { size: 3 },
  };
}
