import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { uploadFile } from '../../kit/calls.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { TextField } from '../../kit/field.tsx';
import { useReload } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { sharedTexts } from '../../texts/shared-texts.ts';

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
export function ReferenceUpload({ productId, part, onClose }: ReferenceUploadProps) {
  const [file, setFile] = useState<File>();
  const [fault, setFault] = useState<Error | null>(null);
  const [isBusy, setBusy] = useState(false);
  const reload = useReload(productReads);
  const toasts = useToasts();
  const upload = async () => {
    if (!file) return setFault(new Error(own.fileMissing));
    setBusy(true);
    try {
      await sendReference(part, productId, file);
      await reload();
      toasts.showSuccess(own.uploaded(part.name));
      onClose();
    } catch (error) {
      setFault(error instanceof Error ? error : new Error(String(error)));
      setBusy(false);
    }
  };
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={own.upload(part.name)}
      about={own.uploadAbout}
      footer={
        <>
          <Button onClick={onClose}>{sharedTexts.kit.cancel}</Button>
          <Button kind="primary" isBusy={isBusy} onClick={() => void upload()}>
            {own.send}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <ErrorText error={fault} />
        <TextField
          label={own.file}
          type="file"
          accept=".json,.yaml,.yml,.graphql,.gql"
          className="py-1"
          onChange={event => setFile(event.target.files?.[0])}
        />
      </div>
    </Dialog>
  );
}
