import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { type ResultOf, uploadFile } from '../../kit/calls.ts';
import { Card } from '../../kit/card.tsx';
import { useWrite } from '../../kit/queries.ts';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { FileUploadDialog } from '../forms/file-upload-dialog.tsx';

const own = adminTexts.posts.image;
const reads = ['GET /portal-api/posts', 'GET /portal-api/posts/{post_id}'] as const;

/** Image above the text of a post and on its card; it is stored at once. */
export function PostImage({ post }: { post: ResultOf<'GET /portal-api/posts/{post_id}'> }) {
  const [isUploading, setUploading] = useState(false);
  const remove = useWrite('DELETE /portal-api/posts/{post_id}/image', reads);
  const toasts = useToasts();
  const params = { post_id: post.ID };
  const removeImage = () =>
    remove.mutate(
      { given: { params } },
      { onSuccess: () => toasts.showSuccess(own.removed), onError: error => toasts.showError(error.message) },
    );
  return (
    <Card title={own.title}>
      <div className="flex flex-col gap-3">
        {post.Image === '' ? (
          <p className="text-dim">{own.none}</p>
        ) : (
          // The time of the change is part of the address: a replaced image is read again.
          <img
            src={`${post.Image}?changed=${encodeURIComponent(post.UpdatedAt)}`}
            alt={own.title}
            className="aspect-[7/4] w-full max-w-xs rounded-card border border-line object-contain"
          />
        )}
        <div className="flex flex-wrap gap-2">
          <Button onClick={() => setUploading(true)}>{own.upload}</Button>
          {post.Image !== '' && (
            <Button isBusy={remove.isPending} onClick={removeImage}>
              {own.remove}
            </Button>
          )}
        </div>
      </div>
      {isUploading && (
        <FileUploadDialog
          title={own.upload}
          about={own.uploadAbout}
          label={own.file}
          accept="image/png,image/jpeg,image/gif,image/webp"
          action={own.send}
          done={own.uploaded}
          reads={reads}
          send={file => uploadFile('POST /portal-api/posts/{post_id}/image', file, params)}
          onClose={() => setUploading(false)}
        />
      )}
    </Card>
  );
}
