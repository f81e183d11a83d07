#include "common/compat.h"

#include "common/log.h"
#include "common/num.h"
#include "common/text.h"
#include "orchestrator/gateway/http.h"
#include "orchestrator/gateway/key.h"
#include "orchestrator/gateway/model.h"
#include "orchestrator/gateway/price.h"

#define TOKENS_MAX 1000000000
#define MAX_OUTPUT 16384
#define PARALLEL 32
#define PARALLEL_MAX 1024
#define RETRIES 8
#define RETRIES_MAX 100

/* What needs no settings. */
static const struct maker {
	const char *name, *api, *key_env, *url_env, *url;
} makers[] = {
	{ "openai", "openai-chat", "OPENAI_API_KEY", "OPENAI_BASE_URL",
	    "https://api.openai.com/v1" },
	{ "anthropic", "anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL",
	    "https://api.anthropic.com" },
};

static const char *const provider_keys[] = { "api", "base_url", "key_env",
	"key_command", "models", "parallel", "max_retries", "max_wait", "idle",
	"plain_http", NULL };
static const char *const model_keys[] = { "context", "max_output", "price",
	"effort", "quirks", NULL };
static const char *const price_keys[] = { "in", "cached", "cache_write", "out",
	NULL };
static const char *const quirk_keys[] = { "no_stream_usage", "max_completion",
	"no_parallel", "no_cache_control", NULL };

static const struct maker *
maker_find(const char *name)
{
	for (size_t i = 0; i < nitems(makers); i++)
		if (strcmp(makers[i].name, name) == 0)
			return &makers[i];
	return NULL;
}

/* --- settings ------------------------------------------------------------- */

/* Which part of the settings an error is about; returns r. */
static int
in_part(struct err *e, int r, const char *provider, const char *part)
{
	if (r < 0)
		(void)err_prefix(e, "providers.%.80s%s", provider, part);
	return r;
}

static int
in_model(struct err *e, int r, const struct endpoint *m, const char *part)
{
	if (r < 0)
		(void)err_prefix(e, "providers.%.80s.models.%.80s%s",
		    m->provider, m->model, part);
	return r;
}

/* An object's member that is an object, with these keys only: a typing error
 * in a price must not pass. NULL and 0 when it is absent. */
static int
get_object(const json_t *obj, const char *key, const char *const *known,
    const json_t **ret, struct err *e)
{
	const json_t *j = json_object_get(obj, key), *v;
	const char *k;
	size_t i;

	*ret = NULL;
	if (j == NULL || json_is_null(j))
		return 0;
	if (!json_is_object(j))
		return err_set(e, ERR_USAGE, "it must be an object");
	json_object_foreach ((json_t *)j, k, v) {
		for (i = 0; known != NULL && known[i] != NULL; i++)
			if (strcmp(known[i], k) == 0)
				break;
		if (known != NULL && known[i] == NULL)
			return err_set(
			    e, ERR_USAGE, "it has no member \"%.80s\"", k);
	}
	*ret = j;
	return 0;
}

/* NULL when there is no object either. */
static int
get_str(const json_t *j, const char *key, const char **ret, struct err *e)
{
	*ret = NULL;
	return j != NULL ? json_get_str(j, key, false, ret, e) : 0;
}

static int
get_duration(const json_t *j, const char *key, uint64_t *ret, struct err *e)
{
	const char *s;
	int r;

	if ((r = json_get_str(j, key, false, &s, e)) < 0 || s == NULL)
		return r;
	return num_duration_ms(s, key, ret, e);
}

static int
read_quirks(const json_t *j, struct quirks *q, struct err *e)
{
	int r;

	if ((r = json_get_bool(
		 j, "no_stream_usage", false, &q->no_stream_usage, e)) < 0 ||
	    (r = json_get_bool(
		 j, "max_completion", false, &q->max_completion, e)) < 0 ||
	    (r = json_get_bool(j, "no_parallel", false, &q->no_parallel, e)) <
		0)
		return r;
	return json_get_bool(
	    j, "no_cache_control", false, &q->no_cache_control, e);
}

static int
read_price(struct price *p, const json_t *model, struct err *e)
{
	const json_t *j, *v;
	const char *key;
	int r;

	if ((r = get_object(model, "price", price_keys, &j, e)) < 0 ||
	    j == NULL)
		return r;
	json_object_foreach ((json_t *)j, key, v)
		if (json_is_number(v) && json_number_value(v) < 0)
			return err_set(e, ERR_USAGE,
			    "\"%s\" must be a number of 0 or more: dollars "
			    "for a million tokens",
			    key);
	return price_from_json(j, p, e);
}

static int
read_numbers(struct endpoint *m, const json_t *model, struct err *e)
{
	const char *effort;
	int r;

	if ((r = json_get_u64(
		 model, "context", 0, TOKENS_MAX, &m->context, e)) < 0 ||
	    (r = json_get_u64(model, "max_output", m->max_output, TOKENS_MAX,
		 &m->max_output, e)) < 0 ||
	    (r = json_get_str(model, "effort", false, &effort, e)) < 0)
		return r;
	if (effort != NULL)
		m->effort = xstrdup(effort);
	return 0;
}

static int
read_model(struct endpoint *m, const json_t *provider, struct err *e)
{
	const json_t *models, *j, *quirks;
	int r;

	price_find(m->provider, m->model, &m->price);
	r = get_object(provider, "models", NULL, &models, e);
	if (r < 0)
		return in_part(e, r, m->provider, ".models");
	r = get_object(models, m->model, model_keys, &j, e);
	if (r == 0 && j != NULL)
		r = read_numbers(m, j, e);
	if (r < 0 || j == NULL)
		return in_model(e, r, m, "");
	if ((r = read_price(&m->price, j, e)) < 0)
		return in_model(e, r, m, ".price");
	r = get_object(j, "quirks", quirk_keys, &quirks, e);
	if (r == 0 && quirks != NULL)
		r = read_quirks(quirks, &m->quirks, e);
	return in_model(e, r, m, ".quirks");
}

static int
read_limits(struct endpoint *m, const json_t *provider, struct err *e)
{
	uint64_t parallel, retries;
	int r;

	m->max_output = MAX_OUTPUT;
	m->parallel = PARALLEL;
	m->max_retries = RETRIES;
	if (provider == NULL)
		return 0;
	if ((r = json_get_u64(provider, "parallel", PARALLEL, PARALLEL_MAX,
		 &parallel, e)) < 0 ||
	    (r = json_get_u64(provider, "max_retries", RETRIES, RETRIES_MAX,
		 &retries, e)) < 0 ||
	    (r = get_duration(provider, "max_wait", &m->max_wait_ms, e)) < 0 ||
	    (r = get_duration(provider, "idle", &m->idle_ms, e)) < 0)
		return r;
	m->parallel = parallel > 0 ? (unsigned)parallel : 1;
	m->max_retries = (unsigned)retries;
	return json_get_bool(provider, "plain_http", false, &m->plain, e);
}

/* --- where ---------------------------------------------------------------- */

/* "https://host/v1/" and "/v1/messages": one "/v1" is enough, and a base that
 * names the whole path already is taken as it is. */
static char *
join_url(const char *base, const char *path)
{
	size_t n = strlen(base);
	const char *second;

	while (n > 0 && base[n - 1] == '/')
		n--;
	if (n >= strlen(path) &&
	    strncmp(base + n - strlen(path), path, strlen(path)) == 0)
		return xstrndup(base, n);
	second = strchr(path + 1, '/');
	if (second != NULL && n >= (size_t)(second - path) &&
	    strncmp(
		base + n - (second - path), path, (size_t)(second - path)) == 0)
		path = second;
	return xasprintf("%.*s%s", (int)n, base, path);
}

/* No part of the URL is told: it may hold what is secret. */
static int
check_url(const struct endpoint *m, const char *base, struct err *e)
{
	if (strlen(base) > 2048 || strpbrk(base, "?#") != NULL)
		return err_set(
		    e, ERR_USAGE, "a base URL has no '?' or '#' in it");
	if (strncasecmp(base, "https://", 8) != 0 &&
	    strncasecmp(base, "http://", 7) != 0)
		return err_set(e, ERR_USAGE,
		    "a base URL begins with https:// (or http://)");
	if (!m->plain && http_url_check(m->url, false, NULL) < 0 &&
	    http_url_check(m->url, true, NULL) == 0)
		return err_set(e, ERR_USAGE,
		    "http sends everything readable for others; to a host that "
		    "is not this machine use https, or allow it by "
		    "\"plain_http\": true in the provider's settings");
	return http_url_check(m->url, m->plain, e);
}

/* *ret_env: the variable that base comes from, else NULL. Settings first: their
 * key must not go to another host. */
static int
find_base(const struct maker *maker, const json_t *provider, bool use_env,
    const char **ret, const char **ret_env, struct err *e)
{
	const char *env = NULL;
	int r;

	*ret = *ret_env = NULL;
	if ((r = get_str(provider, "base_url", ret, e)) < 0 || *ret != NULL)
		return r;
	if (maker == NULL)
		return err_set(e, ERR_USAGE, "it needs a \"base_url\"");
	if (use_env)
		env = getenv(maker->url_env);
	if (env != NULL && env[0] != '\0') {
		*ret = env;
		*ret_env = maker->url_env;
	} else {
		*ret = maker->url;
	}
	return 0;
}

static int
find_dialect(struct endpoint *m, const struct maker *maker,
    const json_t *provider, struct err *e)
{
	const char *api = NULL;
	int r;

	if ((r = get_str(provider, "api", &api, e)) < 0)
		return r;
	if (api == NULL)
		api = maker != NULL ? maker->api : "openai-chat";
	if ((m->dialect = dialect_find(api)) == NULL)
		return err_set(e, ERR_USAGE,
		    "no \"api\" is named %.80s; there are openai-chat, "
		    "openai-responses, anthropic",
		    api);
	return 0;
}

static int
read_url(struct endpoint *m, const struct maker *maker, const json_t *provider,
    bool use_env, struct err *e)
{
	const char *base, *env;
	char *path;
	int r;

	if ((r = find_dialect(m, maker, provider, e)) < 0 ||
	    (r = find_base(maker, provider, use_env, &base, &env, e)) < 0)
		return in_part(e, r, m->provider, "");
	/* Anthropic's base URL has no version in it, OpenAI's has. */
	m->url_from = env != NULL ? xstrdup(env)
	    : json_object_get(provider, "base_url") != NULL
	    ? xasprintf("providers.%.80s.base_url", m->provider)
	    : xstrdup(maker->url_env);
	path = xasprintf("%s%s", m->dialect == &dialect_anthropic ? "/v1" : "",
	    m->dialect->path);
	m->url = join_url(base, path);
	free(path);
	if ((r = check_url(m, base, e)) == 0)
		return 0;
	if (env == NULL)
		return in_part(e, r, m->provider, ".base_url");
	(void)err_prefix(e, "%s", env);
	return r;
}

static int
get_key_source(const struct endpoint *m, const json_t *provider,
    const char **ret_env, const char **ret_command, struct err *e)
{
	int r;

	r = get_str(provider, "key_env", ret_env, e);
	if (r == 0)
		r = get_str(provider, "key_command", ret_command, e);
	return in_part(e, r, m->provider, "");
}

static int
read_key(struct endpoint *m, const struct maker *maker, const json_t *provider,
    struct err *e)
{
	const char *env, *command = NULL, *key, *named = NULL;
	int r;

	if ((r = get_key_source(m, provider, &named, &command, e)) < 0)
		return r;
	env = named;
	if (env == NULL && command == NULL && maker != NULL)
		env = maker->key_env;
	key = env != NULL ? key_env(env) : NULL;
	if (key == NULL && command != NULL)
		m->key_from =
		    xasprintf("providers.%.80s.key_command", m->provider);
	else if (env != NULL)
		m->key_from = xstrdup(env);
	if (key != NULL)
		return key_copy(key, strlen(key), env, &m->key, &m->key_len, e);
	if (command != NULL)
		return in_part(e, key_command(command, &m->key, &m->key_len, e),
		    m->provider, "");
	if (env != NULL && !http_url_loopback(m->url))
		return err_set(e, ERR_MODEL,
		    "%s is not set: %s/%s needs a key (or use -m builtin, "
		    "which needs none)",
		    env, m->provider, m->model);
	if (named != NULL)
		log_info("providers.%s.key_env: %s is not set; %s/%s is asked "
			 "without a key",
		    m->provider, named, m->provider, m->model);
	return 0;
}

/* --- which ---------------------------------------------------------------- */

static void
list_choices(const json_t *providers, char *dst, size_t size)
{
	const char *name;
	const json_t *v;
	size_t n;

	n = strlcpy(dst, "openai/NAME, anthropic/NAME", size);
	json_object_foreach ((json_t *)providers, name, v)
		if (maker_find(name) == NULL && n < size)
			n += (size_t)snprintf(
			    dst + n, size - n, ", %.40s/NAME", name);
	if (n < size)
		(void)strlcpy(dst + n, ", builtin", size - n);
}

/* A variable that holds a key, or NULL. */
static const char *
any_key(const json_t *providers)
{
	const char *name, *env;
	const json_t *v;

	for (size_t i = 0; i < nitems(makers); i++)
		if (key_env(makers[i].key_env) != NULL)
			return makers[i].key_env;
	json_object_foreach ((json_t *)providers, name, v) {
		env = json_string_value(json_object_get(v, "key_env"));
		if (env != NULL && key_env(env) != NULL)
			return env;
	}
	return NULL;
}

/* All but the models and the key. */
static int
read_provider(struct endpoint *m, const json_t *providers, bool use_env,
    const json_t **ret, struct err *e)
{
	const struct maker *maker = maker_find(m->provider);
	int r;

	r = get_object(providers, m->provider, provider_keys, ret, e);
	if (r == 0)
		r = read_limits(m, *ret, e);
	if (r < 0)
		return in_part(e, r, m->provider, "");
	return read_url(m, maker, *ret, use_env, e);
}

static int
check_models(struct endpoint *m, const json_t *provider, struct err *e)
{
	const json_t *models, *v;
	const char *name, *env, *command;
	int r;

	if ((r = get_key_source(m, provider, &env, &command, e)) < 0)
		return r;
	r = get_object(provider, "models", NULL, &models, e);
	if (r < 0)
		return in_part(e, r, m->provider, ".models");
	json_object_foreach ((json_t *)models, name, v) {
		free(m->model);
		free(m->effort);
		m->effort = NULL;
		m->model = xstrdup(name);
		if ((r = read_model(m, provider, e)) < 0)
			return r;
	}
	return 0;
}

/* What is wrong with a provider shows when it is written, not when it is first
 * used. Keys are not looked for. */
static int
check_providers(const json_t *providers, struct err *e)
{
	const json_t *v, *provider;
	struct endpoint m;
	const char *name;
	int r = 0;

	json_object_foreach ((json_t *)providers, name, v) {
		m = (struct endpoint){ .provider = xstrdup(name) };
		r = read_provider(&m, providers, false, &provider, e);
		if (r == 0 && provider != NULL)
			r = check_models(&m, provider, e);
		model_clear(&m);
		if (r < 0)
			break;
	}
	return r;
}

/* from: "model: " when the settings have the name, else "". */
static int
find_named(const char *name, const char *from, const json_t *providers,
    struct endpoint *m, struct err *e)
{
	const char *slash = strchr(name, '/');
	const struct maker *maker;
	const json_t *provider;
	char choices[512];
	int r;

	list_choices(providers, choices, sizeof choices);
	if (slash == NULL || slash == name || slash[1] == '\0' ||
	    !text_is_utf8(name, strlen(name)))
		return err_set(e, ERR_USAGE,
		    "%sno model \"%.200s\"; choices are %s", from, name,
		    choices);
	m->provider = xstrndup(name, (size_t)(slash - name));
	m->model = xstrdup(slash + 1);
	maker = maker_find(m->provider);
	if (maker == NULL && json_object_get(providers, m->provider) == NULL)
		return err_set(e, ERR_USAGE,
		    "%sno provider \"%.80s\" in the settings; choices are %s",
		    from, m->provider, choices);
	if ((r = read_provider(m, providers, true, &provider, e)) < 0 ||
	    (r = read_model(m, provider, e)) < 0)
		return r;
	return read_key(m, maker, provider, e);
}

int
model_find(const char *name, const json_t *settings, struct endpoint **ret,
    struct err *e)
{
	const json_t *providers = NULL;
	struct endpoint *m;
	const char *key, *from = name == NULL ? "model: " : "";
	char choices[512];
	int r;

	r = get_object(settings, "providers", NULL, &providers, e);
	if (r < 0) {
		(void)err_prefix(e, "providers");
		return r;
	}
	if ((r = check_providers(providers, e)) < 0)
		return r;
	if (name == NULL && settings != NULL &&
	    (r = json_get_str(settings, "model", false, &name, e)) < 0)
		return r;
	if (name == NULL && (key = any_key(providers)) != NULL) {
		list_choices(providers, choices, sizeof choices);
		return err_set(e, ERR_USAGE,
		    "%s is set, but no model is named; say -m with one of %s",
		    key, choices);
	}
	if (name == NULL || strcmp(name, "builtin") == 0) {
		*ret = NULL;
		return 0;
	}
	m = xcalloc(1, sizeof *m);
	if ((r = find_named(name, from, providers, m, e)) < 0) {
		model_free(m);
		return r;
	}
	*ret = m;
	return 0;
}

void
model_clear(struct endpoint *m)
{
	key_free(m->key, m->key_len);
	free(m->provider);
	free(m->model);
	free(m->url);
	free(m->effort);
	free(m->key_from);
	free(m->url_from);
	*m = (struct endpoint){ 0 };
}

void
model_free(struct endpoint *m)
{
	if (m == NULL)
		return;
	model_clear(m);
	free(m);
}

void
model_take_keys(const json_t *settings)
{
	const json_t *providers = json_object_get(settings, "providers"), *v;
	const char *name, *env;

	for (size_t i = 0; i < nitems(makers); i++)
		key_take(makers[i].key_env);
	json_object_foreach ((json_t *)providers, name, v) {
		env = json_string_value(json_object_get(v, "key_env"));
		if (env != NULL)
			key_take(env);
	}
}

void
model_drop_keys(void)
{
	key_drop_all();
}
