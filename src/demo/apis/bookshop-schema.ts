/** Schema of the GraphQL upstream; the gateway checks operations against the same. */
export const bookshopSchema = `type Author { id: ID! name: String! books: [Book!]! }
type Book { id: ID! title: String! year: Int! author: Author! }
type Query { books(year: Int): [Book!]! book(id: ID!): Book authors: [Author!]! }
type Mutation { reserve(book: ID!, name: String!): Book }
`;
