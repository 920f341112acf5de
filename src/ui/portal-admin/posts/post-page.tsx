import { useNavigate, useParams } from '@tanstack/react-router';
import { buttonClass } from '../../kit/button.tsx';
import type { ArgumentsOf, ResultOf } from '../../kit/calls.ts';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { type FormSection, RecordForm, type RecordValue } from '../forms/record-form.tsx';
import { DeleteButton } from '../lists/detail-page.tsx';
import { PostImage } from './post-image.tsx';
import { PostStatePill } from './post-list-page.tsx';

const own = adminTexts.posts;
const refreshed = [
  'GET /portal-api/posts',
  'GET /portal-api/posts/{post_id}',
  'GET /portal-api/categories',
  'GET /portal-api/tags',
] as const;
type PostWrite = ArgumentsOf<'POST /portal-api/posts'>['body'];
type PostChange = ArgumentsOf<'PUT /portal-api/posts/{post_id}'>['body'];
type Post = ResultOf<'GET /portal-api/posts/{post_id}'>;

const sections: readonly FormSection[] = [
  {
    title: own.details,
    fields: [
      { name: 'Title', label: own.columns.title, isRequired: true },
      { name: 'Path', label: own.columns.path, help: own.pathHelp, isRequired: true, isMono: true },
      {
        name: 'Status',
        label: own.columns.state,
        kind: 'select',
        options: Object.entries(own.states).map(([value, label]) => ({ value, label })),
      },
      { name: 'PublishAt', label: own.columns.date, help: own.dateHelp, kind: 'time' },
      { name: 'Lede', label: own.lede, help: own.ledeHelp, kind: 'area', rows: 2 },
      { name: 'Categories', label: own.categories, help: own.labelsHelp, kind: 'lines' },
      { name: 'Tags', label: own.tags, help: own.labelsHelp, kind: 'lines' },
      { name: 'MarkdownEnabled', label: own.markdown, help: own.markdownHelp, kind: 'switch' },
      { name: 'Text', label: own.text, kind: 'area', rows: 16, isMono: true, isRequired: true },
    ],
  },
];

/** The text is Markdown or HTML; each has a member of its own. */
const toBody = ({ Text, ...rest }: RecordValue) => ({
  ...rest,
  ...(rest.MarkdownEnabled ? { MarkdownContent: String(Text) } : { Content: String(Text) }),
});
const toRecord = ({ Content, MarkdownContent, Categories, Tags, ...post }: Post): RecordValue => ({
  ...{ Title: post.Title, Path: post.Path, Status: post.Status, Lede: post.Lede, PublishAt: post.PublishAt },
  MarkdownEnabled: post.MarkdownEnabled,
  Categories: Categories.map(({ Name }) => Name),
  Tags: Tags.map(({ Name }) => Name),
  Text: post.MarkdownEnabled ? MarkdownContent : Content,
});

const noText = { MarkdownEnabled: true, Text: '' };

export function NewBlogPostPage() {
  const navigate = useNavigate();
  const create = useWrite('POST /portal-api/posts', refreshed);
  return (
    <PageFrame title={own.newTitle} width="form">
      <RecordForm
        isNew
        stored={{ Title: '', Path: '', Status: 'draft', PublishAt: '', Lede: '', Categories: [], Tags: [], ...noText }}
        sections={sections}
        action={own.create}
        isBusy={create.isPending}
        error={create.error}
        onSave={async (draft, _changes, accept) => {
          const { value } = await create.mutateAsync({
            given: { body: { Content: String(draft.Text), ...toBody(draft) } as PostWrite },
          });
          accept();
          await navigate({ to: '/admin/posts/$postId', params: { postId: String(value.ID) }, ignoreBlocker: true });
        }}
      />
    </PageFrame>
  );
}

export function BlogPostPage() {
  const { postId } = useParams({ from: '/shell/admin/posts/$postId' });
  const params = { post_id: postId };
  const read = useOperation('GET /portal-api/posts/{post_id}', { params });
  const save = useWrite('PUT /portal-api/posts/{post_id}', refreshed);
  const remove = useWrite('DELETE /portal-api/posts/{post_id}', ['GET /portal-api/posts']);
  const toasts = useToasts();
  const post = read.data?.value;
  if (!post)
    return (
      <PageFrame title={own.title}>
        <QueryState query={read} />
      </PageFrame>
    );
  const { Title } = post;
  return (
    <PageFrame
      title={Title}
      width="form"
      status={<PostStatePill post={post} />}
      actions={
        <>
          <a href={`/portal/private/posts/${postId}`} target="_blank" rel="noreferrer" className={buttonClass()}>
            {own.preview}
          </a>
          <DeleteButton
            label={adminTexts.forms.delete}
            action={own.deleteAction(Title)}
            name={Title}
            tier={3}
            consequence={own.deleteConsequence}
            list="/admin/posts"
            done={own.deleted}
            remove={() => remove.mutateAsync({ given: { params } })}
          />
        </>
      }
    >
      <RecordForm
        key={postId}
        stored={toRecord(post)}
        sections={sections}
        action={own.save}
        isBusy={save.isPending}
        error={save.error}
        onSave={async (draft, _changes, accept) => {
          await save.mutateAsync({ given: { params, body: toBody(draft) as PostChange } });
          accept();
          toasts.showSuccess(adminTexts.forms.saved(String(draft.Title)));
        }}
      />
      <PostImage post={post} />
    </PageFrame>
  );
}
