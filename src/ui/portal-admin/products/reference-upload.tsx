import { uploadFile } from '../../kit/calls.ts';
import { adminTexts } from '../../texts/admin-texts.ts';
import { FileUploadDialog } from '../forms/file-upload-dialog.tsx';

const own = adminTexts.references;

export const productReads = ['GET /portal-api/products', 'GET /portal-api/products/{product_id}'] as const;

/** An API of a product, or a specification without one. */
export interface ReferencePart {
  readonly kind: 'api' | 'spec';
  readonly id: string;
  readonly name: string;
}

const isSchema = (file: File) => /\.(graphql|gql)$/i.test(file.name);

/** A GraphQL schema by the name of its file, and an OpenAPI document otherwise. */
function sendReference({ kind, id }: ReferencePart, product_id: string, file: File): Promise<unknown> {
  if (kind === 'api') {
    const params = { product_id, api_id: id };
    return isSchema(file)
      ? uploadFile('POST /portal-api/products/{product_id}/api-details/{api_id}/graphql/schema', file, params)
      : uploadFile('POST /portal-api/products/{product_id}/api-details/{api_id}/oas', file, params);
  }
  const params = { product_id, spec_id: id };
  return isSchema(file)
    ? uploadFile('PUT /portal-api/products/{product_id}/spec-details/{spec_id}/graphql/schema', file, params)
    : uploadFile('POST /portal-api/products/{product_id}/spec-details/{spec_id}/oas', file, params);
}

interface ReferenceUploadProps {
  readonly productId: string;
  readonly part: ReferencePart;
  onClose(): void;
}

/** Uploads the document of an API reference; the server checks it and says what is wrong. */
export const ReferenceUpload = ({ productId, part, onClose }: ReferenceUploadProps) => (
  <FileUploadDialog
    title={own.upload(part.name)}
    about={own.uploadAbout}
    label={own.file}
    accept=".json,.yaml,.yml,.graphql,.gql"
    action={own.send}
    done={own.uploaded(part.name)}
    reads={productReads}
    send={file => sendReference(part, productId, file)}
    onClose={onClose}
  />
);
