import { z } from 'zod';
import type { FileContent, Upload } from '#operations/body.ts';
import { type Method, operation } from '#operations/operation.ts';
import { buildProposal } from '../changelog/proposal.ts';
import { checkProductDocument, type DocumentKind, documentTypes } from '../files/documents.ts';
import { parseProductDocument } from '../files/parsed-document.ts';
import { fileResponse, uploadedFile } from '../files/shapes.ts';
import type { PortalServices } from '../portal-stores.ts';
import { type Missing, present, problem } from '../problems.ts';
import { lenientBool, okResponse, okStatus, type PortalRef, parsePortalRef, portalId } from '../shapes.ts';
import { requireApiDetail } from './api-detail-operations.ts';
import { toApiOwner, toSpecOwner } from './removal.ts';
import type { StoredProduct } from './schema.ts';
import { removeSpec, requireSpec } from './spec-operations.ts';

type Services = Pick<PortalServices, 'portal' | 'records' | 'clock' | 'settings'>;

/** Where a document belongs: to an API of a product, or to a specification. */
interface Subject {
  readonly path: 'api-details' | 'spec-details';
  readonly param: 'api_id' | 'spec_id';
  /** Owner of the file in the file store; throws where the product has no such part. */
  findOwner(product: StoredProduct, part: string, missing: Missing): string;
  /** The product with the kind of document recorded. */
  markUploaded(product: StoredProduct, part: string, kind: DocumentKind): StoredProduct;
}

const apiSubject: Subject = {
  path: 'api-details',
  param: 'api_id',
  findOwner: (product, part, missing) => toApiOwner(product.ID, requireApiDetail(product, part, missing).APIID),
  markUploaded: product => product,
};

const specSubject: Subject = {
  path: 'spec-details',
  param: 'spec_id',
  findOwner: (product, part, missing) =>
    toSpecOwner(product.ID, requireSpec(product, parsePortalRef(part), missing).ID),
  markUploaded(product, part, kind) {
    const spec = requireSpec(product, parsePortalRef(part), 'unknown');
    const marked = { ...spec, DocumentationType: kind === 'oas' ? ('OAS' as const) : ('graphqlSDL' as const) };
    return { ...product, SpecDetails: product.SpecDetails.map(it => (it === spec ? marked : it)) };
  },
};

/** Documents of each subject; each row becomes three operations. */
const documentRows = [
  { subject: apiSubject, kind: 'oas', noun: 'ApiOas', of: 'the OpenAPI document of an API', uploadMethod: 'POST' },
  {
    subject: apiSubject,
    kind: 'graphql',
    noun: 'ApiSchema',
    of: 'the GraphQL schema of an API',
    uploadMethod: 'POST',
  },
  {
    subject: specSubject,
    kind: 'oas',
    noun: 'SpecOas',
    of: 'the OpenAPI document of a specification',
    uploadMethod: 'POST',
  },
  {
    subject: specSubject,
    kind: 'graphql',
    noun: 'SpecSchema',
    of: 'the GraphQL schema of a specification',
    uploadMethod: 'PUT',
  },
] as const satisfies readonly { subject: Subject; kind: DocumentKind; uploadMethod: Method; [name: string]: unknown }[];
type Row = (typeof documentRows)[number];

const documentNames = { oas: 'oas', graphql: 'graphql schema' } as const;
const createMissing = (kind: DocumentKind) => problem.document_missing({ detail: { document: documentNames[kind] } });

async function readStored({ subject, kind }: Row, ref: PortalRef, part: string, { portal }: Services) {
  const product = present(await portal.products.get(ref), 'Product');
  const file = await portal.files.find(subject.findOwner(product, part, 'not_found'), kind);
  if (!file) throw createMissing(kind);
  return file;
}

async function storeDocument({ subject, kind }: Row, id: number, part: string, upload: Upload, services: Services) {
  const { portal, records, clock, settings } = services;
  const file = checkProductDocument(kind, upload, settings['management.max_body_bytes']);
  await records.write(async () => {
    const changed = await portal.products.change(id, it => ({
      ...subject.markUploaded(it, part, kind),
      UpdatedAt: clock.now(),
    }));
    const owner = subject.findOwner(present(changed, 'Product', 'unknown'), part, 'unknown');
    if (kind === 'oas') await proposeEntry(changed!, owner, file, services);
    await portal.files.put(owner, kind, file, clock.now());
  });
}

/** Inside the transaction that replaces an OpenAPI document: proposes an entry of the changelog of its product. */
async function proposeEntry(product: StoredProduct, owner: string, file: FileContent, { portal, clock }: Services) {
  const former = await portal.files.find(owner, 'oas');
  const before = former && parseProductDocument(former);
  const after = before && parseProductDocument(file);
  const proposal = before && after && buildProposal(before, after);
  if (!proposal) return;
  const api = product.APIDetails.find(({ APIID }) => toApiOwner(product.ID, APIID) === owner);
  const spec = product.SpecDetails.find(({ ID }) => toSpecOwner(product.ID, ID) === owner);
  const Document = api ? api.ChosenName || api.Name : (spec?.SpecAlias ?? '');
  await portal.proposals.insert({ ProductID: product.ID, Document, ...proposal, CreatedAt: clock.now() });
}

async function removeDocument({ subject, kind }: Row, id: number, part: string, services: Services) {
  const { portal, records } = services;
  await records.write(async () => {
    const product = present(await portal.products.change(id, it => it), 'Product');
    const isRemoved = await portal.files.remove(subject.findOwner(product, part, 'not_found'), kind);
    if (!isRemoved) throw createMissing(kind);
    // A specification that was made from a schema does not outlive it.
    if (subject === specSubject && kind === 'graphql') await removeSpec(id, parsePortalRef(part), services);
  });
}

const declared = { surface: 'portal', noun: 'products', permission: 'secret' } as const;
const partMeanings = { api_id: 'Id of the API', spec_id: 'Number or persistent id' } as const;
// The cast names the computed member, which the compiler would widen to any string.
const buildParams = ({ param }: Subject) =>
  z.object({ product_id: portalId, [param]: z.string().describe(partMeanings[param]) }) as z.ZodObject<
    { product_id: typeof portalId } & Record<Subject['param'], z.ZodString>
  >;
const dryRunQuery = z.object({ dry_run: lenientBool.optional().describe('Checks the file, and stores nothing') });

const proposalNote = ' Its differences from the former one are proposed for the changelog.';

function buildDocumentOperations(row: Row) {
  const { subject, kind, noun, of, uploadMethod } = row;
  const end = kind === 'oas' ? 'oas' : 'graphql/schema';
  const path = `/portal-api/products/{product_id}/${subject.path}/{${subject.param}}/${end}` as const;
  const shared = { ...declared, path, params: buildParams(subject) };
  return [
    operation({
      ...shared,
      name: `get${noun}`,
      method: 'GET',
      about: `Returns ${of}, as uploaded.`,
      returns: fileResponse,
      producesFile: documentTypes[kind],
      problems: [problem.not_found, problem.document_missing],
      handle: ({ params }, services: Services) => readStored(row, params.product_id, params[subject.param], services),
    }),
    operation({
      ...shared,
      name: `upload${noun}`,
      method: uploadMethod,
      about: `Stores ${of}. With \`dry_run\` it is checked only.${kind === 'oas' ? proposalNote : ''}`,
      query: dryRunQuery,
      accepts: 'upload',
      body: uploadedFile,
      returns: okResponse,
      problems: [problem.unknown, kind === 'oas' ? problem.document_refused : problem.schema_refused],
      async handle({ params: { product_id, [subject.param]: part }, query, body, audit }, services: Services) {
        const product = present(await services.portal.products.get(product_id), 'Product', 'unknown');
        audit(String(product.ID));
        subject.findOwner(product, part, 'unknown');
        if (query.dry_run) checkProductDocument(kind, body, services.settings['management.max_body_bytes']);
        else await storeDocument(row, product.ID, part, body, services);
        return okStatus;
      },
    }),
    operation({
      ...shared,
      name: `delete${noun}`,
      method: 'DELETE',
      about: row.noun === 'SpecSchema' ? `Deletes ${of}, and the specification with it.` : `Deletes ${of}.`,
      returns: okResponse,
      problems: [problem.not_found, problem.document_missing],
      async handle({ params: { product_id, [subject.param]: part }, audit }, services: Services) {
        const { ID } = present(await services.portal.products.get(product_id), 'Product');
        audit(String(ID));
        await removeDocument(row, ID, part, services);
        return okStatus;
      },
    }),
  ];
}

export const productDocumentOperations = documentRows.flatMap(buildDocumentOperations);
