/* Everything that a run would read from the settings, without a run. */
#include "common/compat.h"

#include <stdlib.h>

#include "common/log.h"
#include "orchestrator/egress/rules.h"
#include "orchestrator/gateway/model.h"
#include "orchestrator/run/fetch.h"
#include "orchestrator/run/hooks.h"
#include "orchestrator/run/policy.h"
#include "orchestrator/run/settings.h"
#include "orchestrator/run/watch.h"

static int
check_rules(const char *root, struct err *e)
{
	struct rules *r = NULL;
	int rc = policy_load(root, &r, e);

	if (rc == 0)
		rules_free(r);
	return rc;
}

static int
check_network(const json_t *network, struct err *e)
{
	struct net_rules rules = { 0 };
	struct fetches *f = NULL;
	int rc = net_rules_settings(&rules, network, e);

	if (rc == 0 && (rc = fetches_create(NULL, network, &f, e)) == 0)
		fetches_free(f);
	rc = settings_in(e, rc);
	net_rules_clear(&rules);
	return rc;
}

static int
check_programs(const json_t *settings, struct err *e)
{
	struct monitor_rules rules = { 0 };
	struct hook_conf *conf = NULL;
	int rc = hooks_conf(settings, &conf, e);

	hook_conf_free(conf);
	if (rc == 0)
		rc = watch_rules(settings, &rules, e);
	monitor_rules_clear(&rules);
	return rc;
}

int
settings_check(const char *root, char **ret_model, struct err *e)
{
	struct profile_def profile = { 0 };
	struct endpoint *model = NULL;
	json_t *settings = NULL;
	int rc;

	if ((rc = settings_load(&settings, e)) < 0)
		return rc;
	if ((rc = settings_profile(settings, NULL, &profile, e)) == 0)
		profile_def_clear(&profile);
	if (rc == 0)
		rc = check_rules(root, e);
	if (rc == 0)
		rc = check_network(json_object_get(settings, "network"), e);
	if (rc == 0)
		rc = check_programs(settings, e);
	if (rc == 0 && ret_model != NULL)
		rc = settings_model(NULL, settings, &model, e);
	if (rc == 0 && ret_model != NULL)
		*ret_model = model == NULL
		    ? xstrdup("builtin")
		    : xasprintf("%s/%s", model->provider, model->model);
	if (model != NULL)
		model_free(model);
	json_decref(settings);
	return rc;
}
